"""Laws of a protocol, run on anybody's object: `assert_laws(model_or_tokenizer)` in a test, `verify` for the report.

A tokenizer is what has `encode`; a decoder is any function from tokens to logits. Neither has to know this project.
"""

from collections.abc import Callable, Iterable
from typing import Any

from contracts.errors import InputError
from contracts.laws.decoder_view import DecoderView, from_apply, view_decoder
from contracts.laws.law import LawBroken, Outcome, Report, Verdict, judge
from contracts.laws.search import Effort
from contracts.laws.tokenizer_view import TokenizerView, from_encode_decode, view_tokenizer

__all__ = [
    "DecoderView",
    "Effort",
    "LawBroken",
    "Outcome",
    "Report",
    "TokenizerView",
    "Verdict",
    "assert_laws",
    "from_apply",
    "from_encode_decode",
    "verify",
]

_NORMAL = Effort()


def verify(
    subject: Any,
    *,
    name: str = "",
    only: Iterable[str] = (),
    skip: Iterable[str] = (),
    effort: Effort = _NORMAL,
    watch: Callable[[Outcome], object] = lambda outcome: None,
) -> Report:
    """Run the laws of decoders or of tokenizers on `subject`, all of them or those named by `only` and `skip`.

    A tokenizer has `encode`; a decoder is a callable `tokens -> logits` or a pair `(apply, params)`. `from_apply` and
    `from_encode_decode` take functions of any other form. `watch` is told each outcome as it is known. Raises
    `InputError` for what is neither, and for a law that isn't there.
    """
    if isinstance(subject, type):
        raise InputError(name or subject.__name__, expected="an object", got="a class", hint="make one first")
    if isinstance(subject, TokenizerView) or hasattr(subject, "encode"):
        from contracts.laws import tokenizer

        view = view_tokenizer(subject, name)
        return Report(name or view.name, judge(tokenizer.LAWS, view, effort, only, skip, watch))
    from contracts.laws import decoder  # the laws of tokenizers need no jax
    from contracts.laws.decoder_run import DecoderRun

    run = DecoderRun(view_decoder(subject, name))
    return Report(name or run.view.name, judge(decoder.LAWS, run, effort, only, skip, watch), run.remark)


def assert_laws(
    subject: Any,
    *,
    only: Iterable[str] = (),
    skip: Iterable[str] = (),
    effort: Effort = _NORMAL,
) -> None:
    """`verify` for a test: raises `LawBroken`, an `AssertionError` with the whole report, if a law does not hold."""
    report = verify(subject, only=only, skip=skip, effort=effort)
    if report.broken:
        raise LawBroken(report)
