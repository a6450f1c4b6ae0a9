"""Where a document begins and ends: protocol tokens stand above the text ids and never come out of a text.

Only the corpus builder and the generator insert them, so the characters `<|doc|>` in a text are just characters.
"""

from collections.abc import Mapping

import numpy as np

from contracts.errors import InputError
from contracts.tokenizer import PROTOCOL_NAMES, Boundary, TokenIds


def checked_boundary(boundary: Boundary) -> Boundary:
    """`boundary` if it is a policy; `InputError` otherwise."""
    if boundary not in PROTOCOL_NAMES:
        raise InputError("boundary", expected=f"one of {', '.join(PROTOCOL_NAMES)}", got=repr(boundary))
    return boundary


def protocol_ids(boundary: Boundary, text_vocab_size: int) -> dict[str, int]:
    """Name to id of the policy's protocol tokens."""
    return {name: text_vocab_size + index for index, name in enumerate(PROTOCOL_NAMES[boundary])}


def spelled(name: str) -> str:
    """How files and screens write a protocol token: `<|doc|>`."""
    return f"<|{name}|>"


def start_id(protocol: Mapping[str, int]) -> int | None:
    """The token that opens a document, if the policy has one."""
    return protocol.get("doc", protocol.get("bos"))


def stop_id(protocol: Mapping[str, int]) -> int | None:
    """The token that closes a document, if the policy has one."""
    return protocol.get("doc", protocol.get("eos"))


def without_boundaries(ids: TokenIds, protocol: Mapping[str, int]) -> TokenIds:
    """One document without its start and stop tokens, which must be exactly where the policy puts them.

    Raises `InputError` for a missing, inner or doubled boundary.
    """
    names = {token_id: name for name, token_id in protocol.items()}
    start, stop = start_id(protocol), stop_id(protocol)
    first, last = 0, len(ids)
    if start is not None:
        if first == last or ids[first] != start:
            raise _refused_end("start", names[start], start, ids[:1], 0)
        first += 1
    if stop is not None:
        if first == last or ids[last - 1] != stop:
            raise _refused_end("stop", names[stop], stop, ids[first:][-1:], max(last - 1, first))
        last -= 1
    inner = np.isin(ids[first:last], list(names))
    if inner.any():
        position = first + int(inner.argmax())
        raise InputError(
            "document",
            expected="boundary tokens only at its ends",
            got=f"{ids[position]} ({names[int(ids[position])]})",
            where=f"position {position}",
            hint="decode one document at a time",
        )
    return ids[first:last]


def _refused_end(which: str, name: str, token_id: int, found: np.ndarray, position: int) -> InputError:
    return InputError(
        "document",
        expected=f"the {which} token {token_id} ({name})",
        got=str(found[0]) if len(found) else "nothing",
        where=f"position {position}",
    )
