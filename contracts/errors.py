"""The two ways a contract breaks: a bug in code (`ShapeError`) and bad input from a person (`InputError`).

A bug should never be caught. Bad input is one line, says what was expected, what came, where and what to do,
and becomes exit code 2 on the command line.
"""

from typing import Any


class ContractError(Exception):
    """A contract was broken. The base of both kinds; catch `InputError`, never `ShapeError`."""


class ShapeError(ContractError, TypeError):
    """A bug: a value does not have the shape, dtype or structure that its contract names.

    `str(error)` is for people; `contract`, `argument`, `dims` and `path` are for programs.
    """

    def __init__(
        self,
        message: str,
        *,
        contract: str = "",
        argument: str = "",
        dims: dict[str, int] | None = None,
        path: str = "",
    ) -> None:
        super().__init__(message)
        self.contract = contract
        self.argument = argument
        self.dims = dict(dims or {})
        self.path = path


class InputError(ContractError, ValueError):
    """Bad input: one line with what was expected, what came, where, and what to do about it.

    >>> str(InputError("vocab_size", expected="at least 256 (the bytes)", got=100))
    'vocab_size: expected at least 256 (the bytes), got 100'
    """

    def __init__(self, subject: str, *, expected: str, got: Any, where: str = "", hint: str = "") -> None:
        self.subject, self.expected, self.got, self.where, self.hint = subject, expected, got, where, hint
        message = f"{subject}: expected {expected}, got {got}"
        if where:
            message += f" at {where}"
        if hint:
            message += f"; {hint}"
        super().__init__(" ".join(message.splitlines()))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild_input_error, (self.subject, self.expected, self.got, self.where, self.hint))


def _rebuild_input_error(subject: str, expected: str, got: Any, where: str, hint: str) -> InputError:
    return InputError(subject, expected=expected, got=got, where=where, hint=hint)


class ContractsOffWarning(UserWarning):
    """Contracts are switched off where a reader would expect them on (under pytest or in CI)."""
