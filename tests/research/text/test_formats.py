"""Every format carries all that the record holds, and looks like what it is named after."""

import json
import re
import unicodedata
from datetime import datetime

import pytest

from contracts.errors import InputError
from research.text import FORMATS, LANGUAGES, embedded_texts, formatted_documents
from research.text.formats import record

TEXTS = embedded_texts()
everywhere = pytest.mark.parametrize("language", LANGUAGES)


@everywhere
@pytest.mark.parametrize("name", FORMATS)
def test_a_format_carries_every_sentence(name, language):
    documents = formatted_documents(name, language)
    assert len(documents) == len(TEXTS)
    for text, document in zip(TEXTS, documents, strict=True):
        content = (
            document if not name.startswith("json") else "\n".join(e["text"] for e in json.loads(document)["events"])
        )
        for sentence in text.sentences:
            assert content.count(sentence.text[language]) == 1


@everywhere
@pytest.mark.parametrize("name", FORMATS)
def test_a_format_carries_every_field_of_the_record(name, language):
    for text, document in zip(TEXTS, formatted_documents(name, language), strict=True):
        whole = record(text, language)
        for once in (whole["title"], whole["place"], language, *whole["people"]):
            assert once in document
        rest = document
        for event in whole["events"]:
            # in the order of events; inside one a format may order the fields as it likes
            for field in ("text", "emoji"):
                assert event[field] in rest
            for part in (event["time"][:10], event["time"][11:19], str(event["quantity"]["value"])):
                assert part in rest
            assert event["quantity"]["unit"] in rest
            rest = rest[rest.index(event["time"][11:19]) + 1 :]


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_says_an_emoji_as_often_as_the_record(name):
    for text, document in zip(TEXTS, formatted_documents(name), strict=True):
        for sentence in text.sentences:
            assert document.count(sentence.emoji) == FORMATS["json-compact"](text, "en").count(sentence.emoji)


@everywhere
def test_compact_and_indented_json_are_one_object(language):
    for text, compact, indented in zip(
        TEXTS,
        formatted_documents("json-compact", language),
        formatted_documents("json-indent-8", language),
        strict=True,
    ):
        assert json.loads(compact) == json.loads(indented) == record(text, language)


def test_compact_json_has_no_space_between_its_parts_and_indented_json_eight_a_level():
    compact, indented = (FORMATS[name](TEXTS[0], "en") for name in ("json-compact", "json-indent-8"))
    strings = r'"(?:[^"\\]|\\.)*"'
    assert not re.search(r"\s", re.sub(strings, "", compact))
    assert {len(line) - len(line.lstrip(" ")) for line in indented.splitlines()} == {0, 8, 16, 24, 32}


def test_a_log_line_has_time_level_place_and_quantity():
    for text in TEXTS:
        opening, *lines = FORMATS["log"](text, "en").split("\n")
        assert opening.endswith(f"seq=0 lang=en users={','.join(text.people)} {text.title.en}")
        times = [datetime.fromisoformat(line.split()[0]) for line in lines]
        assert times == sorted(set(times))
        for number, (line, sentence) in enumerate(zip(lines, text.sentences, strict=True), start=1):
            _, level, place, sequence, quantity, emoji, message = line.split(maxsplit=6)
            assert emoji == f"emoji={sentence.emoji}"
            assert level in ("DEBUG", "INFO", "WARNING")
            assert (place, sequence, message) == (f"[{text.place}]", f"seq={number}", sentence.text.en)
            assert quantity == f"{sentence.unit}={sentence.value}"


@everywhere
def test_table_columns_start_at_one_terminal_column(language):
    def columns_before(line, part):
        head = line[: line.rindex(part)]
        return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in head)

    for text in TEXTS:
        _, header, *rows = FORMATS["table"](text, language).split("\n")
        for name, values in (
            ("unit", [sentence.unit for sentence in text.sentences]),
            ("value", [f"  {sentence.value} " for sentence in text.sentences]),
        ):
            starts = {columns_before(row, value) for row, value in zip(rows, values, strict=True)}
            assert starts == {columns_before(header, name if name == "unit" else "  value ")}


def test_chat_alternates_between_the_two_people_and_reacts_in_emoji():
    for text in TEXTS:
        _, *lines = FORMATS["chat"](text, "en").split("\n")
        speakers = [line.split("] ")[1].split(":")[0] for line in lines[::2]]
        listeners = [line.split("] ")[1].split(":")[0] for line in lines[1::2]]
        assert all(
            {speaker, listener} == set(text.people) for speaker, listener in zip(speakers, listeners, strict=True)
        )
        assert speakers[0] != speakers[1]
        for message, reaction, sentence in zip(lines[::2], lines[1::2], text.sentences, strict=True):
            assert message.endswith(f": {sentence.text.en} ({sentence.value} {sentence.unit})")
            assert reaction.endswith(": " + sentence.emoji)


def test_an_unknown_format_is_refused():
    with pytest.raises(InputError, match="format: expected one of json-compact"):
        formatted_documents("yaml")
