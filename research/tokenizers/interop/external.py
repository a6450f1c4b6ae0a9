"""How the file of an imported vocabulary numbers its tokens, and which of its special tokens are boundaries here.

No text ever becomes a special token. One with a role is a protocol token of ours; the others are kept as a list.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import get_args

import numpy as np

from contracts.errors import InputError
from contracts.tokenizer import PROTOCOL_NAMES, Boundary, ExternalIds, TokenIds
from research.tokenizers.boundaries import checked_boundary, protocol_ids, spelled
from research.tokenizers.ids import is_integer

#: Which special token of a file stands for which protocol token: `{"doc": "<|endoftext|>"}`.
Roles = Mapping[str, str]

_NAMES = ("doc", "bos", "eos")


@dataclass(frozen=True, eq=False)
class External:
    """The ids of the file that a vocabulary was read from; `checked_external` makes one."""

    ids: ExternalIds
    """the file's id of each text id, -1 for a byte that it lacks"""
    special_tokens: Mapping[str, int]
    """the file's id of each of its special tokens"""
    roles: Roles

    def table(self, protocol: Iterable[str]) -> TokenIds:
        """The file's id of every text id and then of each name in `protocol`, -1 where it has no token for it."""
        special = [self.special_tokens[self.roles[name]] if name in self.roles else -1 for name in protocol]
        return np.append(self.ids, np.array(special, np.int32))

    def of_stream(self, ids: TokenIds, protocol: Iterable[str]) -> TokenIds:
        """The file's ids of text and protocol ids. Raises `InputError` for one that the file has no token for."""
        found = self.table(protocol)[ids]
        lacking = found < 0
        if lacking.any():
            position = int(lacking.argmax())
            expected = "ids that the imported file has a token for"
            raise InputError("ids", expected=expected, got=ids[position], where=f"position {position}")
        return found

    def truncate(self, size: int) -> "External":
        """The first `size` text ids and all special tokens."""
        return replace(self, ids=self.ids[:size])

    def is_ours(self, boundary: Boundary) -> bool:
        """Whether the file numbers and spells its tokens as we do, and so adds nothing."""
        protocol = {spelled(name): token_id for name, token_id in protocol_ids(boundary, len(self.ids)).items()}
        return dict(self.special_tokens) in ({}, protocol) and np.array_equal(self.ids, np.arange(len(self.ids)))


def imported(
    ids: list[int], special_tokens: Mapping[str, int], boundary: Boundary | None, roles: Roles | None, where: str
) -> tuple[External | None, Boundary]:
    """What a file's numbering adds to its vocabulary, if anything, and the boundary policy to read it under.

    Without `roles`: `<|doc|>`, `<|bos|>` and `<|eos|>` say theirs; else the only special token, or `<|endoftext|>`,
    has every role; else none has any. Without `boundary`: the policy that needs exactly these roles, else `shared`.
    """
    roles = _own_roles(special_tokens) if roles is None else roles
    external = checked_external(ids, special_tokens, roles, where)
    boundary = _policy_of(roles) if boundary is None else checked_boundary(boundary)
    return (None if external.is_ours(boundary) else external), boundary


def _own_roles(special_tokens: Mapping[str, int]) -> Roles:
    own = {name: spelled(name) for name in _NAMES if spelled(name) in special_tokens}
    boundary = next(iter(special_tokens)) if len(special_tokens) == 1 else "<|endoftext|>"
    return own or (dict.fromkeys(_NAMES, boundary) if boundary in special_tokens else {})


def _policy_of(roles: Roles) -> Boundary:
    policies: tuple[Boundary, ...] = get_args(Boundary)
    return next((policy for policy in policies if roles and {*roles} == {*PROTOCOL_NAMES[policy]}), "shared")


def checked_external(ids: list[int], special_tokens: Mapping[str, int], roles: Roles, where: str) -> External:
    """Raises `InputError` for what is no id, an id that two tokens share, and a role of a token that is not there."""
    seen = set()
    for token, external in chain(enumerate(ids), special_tokens.items()):
        if not is_integer(external) or not -1 <= external < 2**31 or external in seen:
            got = f"{external!r} for the token {token!r}"
            raise InputError("external ids", expected="an id of its own for each token", got=got, where=where)
        if external >= 0:
            seen.add(external)
    if not isinstance(roles, Mapping):
        expected = "a dict such as {'doc': '<|endoftext|>'}"
        raise InputError("roles", expected=expected, got=repr(roles), where=where)
    for name, token in roles.items():
        if name not in _NAMES or not isinstance(token, str) or token not in special_tokens:
            expected = f"doc, bos or eos, each with one of the {len(special_tokens)} special tokens of the file"
            raise InputError("roles", expected=expected, got=f"{name}: {token!r}", where=where)
    array = np.array(ids, np.int32)
    array.flags.writeable = False
    return External(array, dict(special_tokens), dict(roles))
