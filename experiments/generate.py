"""`bytebound generate`: text from a trained decoder, on the screen as it comes, and in a file as the bytes it is."""

import codecs
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from contracts.errors import InputError
from experiments.files import check_writable, write_whole

_NO_MORE = "no more than the context holds"
#: What moves the cursor or rings the bell: every control character but tab and line end.
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}


@dataclass(frozen=True)
class Generate:
    r"""Continue a prompt with a trained decoder, and show the text as it comes.

    The same seed gives the same text. A prompt is text: <|doc|> in it is seven characters. Without one a new document
    is begun. A text ends at a sampled stop id, at --length, or where the context is full; standard error says which.
    Bytes that are no UTF-8 are shown as \xff; --out and --json keep them as they are.

      bytebound generate my_run --prompt "Once upon a time"
      bytebound generate my_run --prompt "옛날에" --temperature 0.7 --top-p 0.9 --count 3 --length 200
      bytebound generate my_run --length 5000 --overflow slide --out story.txt
    """

    run_folder: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="RUN")]
    """folder of a run that `bytebound train` made"""
    prompt: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="TEXT")] = ()
    """what to continue; repeatable, all are continued side by side"""
    prompt_file: Annotated[str | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="")] = None
    """read the prompt from a UTF-8 file instead ('-' is standard input)"""
    temperature: float = 1.0
    """below 1 likelier, above 1 wilder; 0 takes the most likely token each time"""
    top_k: Annotated[int | None, tyro.conf.arg(metavar="INT", help_behavior_hint="(default: all)")] = None
    """draw from the k most likely tokens only"""
    top_p: Annotated[float | None, tyro.conf.arg(metavar="FLOAT", help_behavior_hint="(default: all)")] = None
    """draw from the most likely tokens that together have this probability"""
    seed: int = 0
    """of the draws"""
    count: int = 1
    """texts of each prompt"""
    length: Annotated[int | None, tyro.conf.arg(metavar="INT", help_behavior_hint=f"(default: {_NO_MORE})")] = None
    """the most tokens of a text"""
    overflow: Literal["error", "slide", "reset"] = "error"
    """where the context is full: end, go on with its later half, or with its last token"""
    step: Annotated[int | None, tyro.conf.arg(metavar="INT", help_behavior_hint="(default: the newest)")] = None
    """the checkpoint after so many steps of training"""
    out: Annotated[str | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="")] = None
    """write prompt and text there, byte by byte; several texts become FILE-1, FILE-2, ..."""
    json: bool = False
    """print a JSON line for each text instead: its bytes in hex, tokens, and why it ended"""

    def run(self) -> None:
        """Load, generate, show."""
        for name, value in (("--count", self.count), ("--length", self.length)):
            if value is not None and value < 1:
                raise InputError(name, expected="at least 1", got=value)
        if not 0 <= self.seed < 1 << 32:
            raise InputError("--seed", expected="0 to 2**32 - 1", got=self.seed)
        prompts = [prompt for prompt in self._prompts() for _ in range(self.count)]
        files = _files(self.out, len(prompts))

        from contracts.generation import Generated, Sampling
        from research.generate import stream
        from research.train import open_run

        sampling = Sampling(self.temperature, self.top_k, self.top_p)
        run = open_run(self.run_folder, self.step)
        with _warnings_in_one_line():
            pieces = stream(
                run.decoder,
                run.tokenizer,
                prompts,
                length=self.length,
                sampling=sampling,
                seed=self.seed,
                overflow=self.overflow,
            )
            heard = _Listener(prompts, run.tokenizer.decode_bytes, show=not self.json)
            for piece in pieces:
                heard.take(piece.row, piece.tokens, piece.stop)
        texts = [
            Generated(prompt.encode(), b"".join(heard.data[row]), tuple(heard.tokens[row]), heard.stops[row])
            for row, prompt in enumerate(prompts)
        ]
        for text, file in zip(texts, files, strict=False):
            write_whole(file, text.prompt + text.data)
            print(f"written: {file}", file=sys.stderr)
        if self.json:
            for text in texts:
                print(_as_json(text, self.seed))

    def _prompts(self) -> list[str]:
        if self.prompt_file is None:
            return list(self.prompt) or [""]
        if self.prompt:
            raise InputError("prompt", expected="--prompt or --prompt-file", got="both")
        try:
            data = sys.stdin.buffer.read() if self.prompt_file == "-" else Path(self.prompt_file).read_bytes()
            return [data.decode()]
        except UnicodeDecodeError as error:
            got = f"byte 0x{data[error.start]:02x}"
            raise InputError(self.prompt_file, expected="UTF-8", got=got, where=f"byte {error.start}") from None
        except OSError as error:
            raise InputError("--prompt-file", expected="a readable file", got=f"{error.strerror}") from None


class Screen:
    """Bytes as they come to text as it can be shown: whole characters, and nothing that a terminal would obey."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="backslashreplace")

    def show(self, data: bytes, final: bool = False) -> str:
        """What can be shown by now; the beginning of a character waits for its end."""
        return self._decoder.decode(data, final).translate(_CONTROLS)


class _Listener:
    """Several texts, told piece by piece, shown one after another: the first that is not over as it comes."""

    def __init__(self, prompts: Sequence[str], decode_bytes: Callable[[Any], bytes], show: bool) -> None:
        self.prompts, self.decode_bytes, self.is_shown = prompts, decode_bytes, show
        self.tokens: list[list[int]] = [[] for _ in prompts]
        self.data: list[list[bytes]] = [[] for _ in prompts]
        self.stops: list[Any] = [None] * len(prompts)
        self._current = -1
        self._screen = Screen()
        self._shown = 0
        self._turn()

    def take(self, row: int, tokens: Sequence[int], stop: str | None) -> None:
        """Keep a piece, and show what its turn is."""
        self.tokens[row].extend(tokens)
        self.data[row].append(self.decode_bytes(tokens))
        self.stops[row] = stop
        self._show()
        while self._current < len(self.prompts) and self.stops[self._current]:
            self._end()
            self._turn()
            self._show()

    def _turn(self) -> None:
        self._current, self._shown, self._screen = self._current + 1, 0, Screen()
        if self._current < len(self.prompts):
            if len(self.prompts) > 1:
                self._print(f"--- {self._current + 1} of {len(self.prompts)} ---\n")
            self._print(Screen().show(self.prompts[self._current].encode("utf-8", "surrogateescape")))

    def _show(self) -> None:
        if self._current < len(self.prompts):
            new = self.data[self._current][self._shown :]
            self._shown += len(new)
            self._print(self._screen.show(b"".join(new)))

    def _end(self) -> None:
        self._print(self._screen.show(b"", final=True) + "\n")
        if self.is_shown:
            count = len(self.tokens[self._current])
            print(f"[{count:,} token{'' if count == 1 else 's'}, ended by {self._reason()}]", file=sys.stderr)

    def _reason(self) -> str:
        reasons = {"stop id": "a sampled stop id", "length": "--length", "context": "the end of the context"}
        return reasons[self.stops[self._current]]

    def _print(self, text: str) -> None:
        if self.is_shown:
            sys.stdout.write(text)
            sys.stdout.flush()


def _as_json(text: Any, seed: int) -> str:
    fields = {
        "prompt": text.prompt.decode(),
        "text": text.shown,
        "is_utf8": _is_utf8(text.data),
        "bytes": text.data.hex(),
        "tokens": text.tokens,
        "stop": text.stop,
        "seed": seed,
    }
    return json.dumps(fields, ensure_ascii=False)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _files(out: str | None, count: int) -> list[Path]:
    """Where the texts go, each checked before anything is generated."""
    if out is None:
        return []
    path = Path(out)
    files = [path] if count == 1 else [path.with_stem(f"{path.stem}-{number}") for number in range(1, count + 1)]
    for file in files:
        check_writable(file)
    return files


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        print(f"note: {message}", file=sys.stderr)

    before = warnings.showwarning
    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = before
