"""The checker of the second net: jaxtyping's import hook puts it on every function of the rooms that `make off` names,
with our contracts off, so that the annotations are judged by a tool that shares no more with ours than jaxtyping.

It is `beartype.beartype`, told of arrays alone. Other hints are a type checker's matter, and at run time they would be
in the way: beartype refuses to decorate where `Self` or a Protocol such as `LanguageModel` is named, an `np.int64` is
no `int` to it, and what a person got wrong would end in its error instead of in the `InputError` that a test expects.
The room of the tokenizers is left out: its "texts+1" is an expression over a dim that no array there binds.
"""

import typing
from collections.abc import Callable
from typing import Any

from beartype import beartype
from jaxtyping import AbstractArray


def check(function: Callable[..., Any]) -> Callable[..., Any]:
    """beartype's check of the arrays that `function` takes or returns."""
    hints = function.__annotations__
    function.__annotations__ = {name: hint if _names_array(hint) else Any for name, hint in hints.items()}
    return beartype(function)


def _names_array(hint: Any) -> bool:
    is_array = isinstance(hint, type) and issubclass(hint, AbstractArray)
    return is_array or any(map(_names_array, typing.get_args(hint)))
