"""The embedded texts in the formats that machines and people write: what does the same content cost as JSON, as log
lines, as a table, as chat? Every format carries every field of `record`, each spelled as such text spells it: title,
place, language and people once, then time, sentence, quantity and emoji. None depends on clock or chance.
"""

import json
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from contracts.errors import InputError
from research.text.embedded import EmbeddedText, Language, Sentence, embedded_texts

_LEVELS = ("INFO", "DEBUG", "INFO", "WARNING")
_TABLE_HEADER = ("time", "sentence", "value", "unit", "emoji")
_TIME = "%Y-%m-%d %H:%M:%S"


def record(text: EmbeddedText, language: Language = "en") -> dict[str, Any]:
    """The object that both JSON formats write."""
    return {
        "title": text.title[language],
        "place": text.place,
        "language": language,
        "people": list(text.people),
        "events": [
            {
                "time": time.isoformat(),
                "text": sentence.text[language],
                "quantity": {"value": sentence.value, "unit": sentence.unit},
                "emoji": sentence.emoji,
            }
            for time, sentence in _events(text)
        ],
    }


def json_compact(text: EmbeddedText, language: Language = "en") -> str:
    """`record` without any white space between its parts."""
    return json.dumps(record(text, language), ensure_ascii=False, separators=(",", ":"))


def json_indent_8(text: EmbeddedText, language: Language = "en") -> str:
    """`record` indented by eight spaces a level."""
    return json.dumps(record(text, language), ensure_ascii=False, indent=8)


def log(text: EmbeddedText, language: Language = "en") -> str:
    """A line that opens the log, then one a sentence: time, level, place, key=value pairs, message."""
    messages = [(text.start, f"lang={language} users={','.join(text.people)} {text.title[language]}")]
    messages += [
        (time, f"{sentence.unit}={sentence.value} emoji={sentence.emoji} {sentence.text[language]}")
        for time, sentence in _events(text)
    ]
    return "\n".join(
        f"{time:%Y-%m-%dT%H:%M:%S}.{number * 137 % 1000:03d}Z {_LEVELS[number % len(_LEVELS)]:<7} "
        f"[{text.place}] seq={number} {message}"
        for number, (time, message) in enumerate(messages)
    )


def table(text: EmbeddedText, language: Language = "en") -> str:
    """A caption, then a row a sentence under a header, columns aligned with spaces."""
    rows = [
        (f"{time:{_TIME}}", sentence.text[language], str(sentence.value), sentence.unit, sentence.emoji)
        for time, sentence in _events(text)
    ]
    columns = list(zip(_TABLE_HEADER, *rows, strict=True))
    widths = [max(map(_terminal_width, column)) for column in columns]
    lines = (
        "  ".join(_padded(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (_TABLE_HEADER, *rows)
    )
    return "\n".join((_caption(text, language), *lines))


def chat(text: EmbeddedText, language: Language = "en") -> str:
    """Two people taking turns: a message a sentence with its quantity, and the other one's reaction, the emoji."""
    lines = [_caption(text, language)]
    for turn, (time, sentence) in enumerate(_events(text)):
        speaker, listener = (text.people[(turn + step) % len(text.people)] for step in (0, 1))
        lines.append(f"[{time:{_TIME}}] {speaker}: {sentence.text[language]} ({sentence.value} {sentence.unit})")
        lines.append(f"[{time + timedelta(minutes=1):{_TIME}}] {listener}: {sentence.emoji}")
    return "\n".join(lines)


#: Name of a format to its renderer: (text, language) -> one document.
FORMATS: Mapping[str, Callable[[EmbeddedText, Language], str]] = {
    "json-compact": json_compact,
    "json-indent-8": json_indent_8,
    "log": log,
    "table": table,
    "chat": chat,
}


def formatted_documents(name: str, language: Language = "en") -> list[str]:
    """Every embedded text in the format `name`, aligned by index with `parallel_documents`."""
    if name not in FORMATS:
        raise InputError("format", expected=f"one of {', '.join(FORMATS)}", got=repr(name))
    return [FORMATS[name](text, language) for text in embedded_texts()]


def _caption(text: EmbeddedText, language: Language) -> str:
    return f"{text.title[language]} ({text.place}, {language}; {', '.join(text.people)})"


def _events(text: EmbeddedText) -> Iterator[tuple[datetime, Sentence]]:
    """Each sentence and when it was said: 3 min 7 s apart, so that no time is round."""
    for number, sentence in enumerate(text.sentences):
        yield text.start + number * timedelta(minutes=3, seconds=7), sentence


def _terminal_width(cell: str) -> int:
    """Columns on a terminal, where a Hangul syllable takes two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in cell)


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - _terminal_width(cell))
