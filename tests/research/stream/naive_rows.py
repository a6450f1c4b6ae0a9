"""Rows by hand: lists of (token, owner), where the owner is the document that a token belongs to as an input."""

from typing import NamedTuple


class Piece(NamedTuple):
    slots: list
    begins: bool
    """whether its document begins with it"""


def naive_slots(documents, boundary):
    """The stream as slots. A shared boundary belongs to the document that it opens, the last one to nobody."""
    slots = []
    for owner, document in enumerate(documents):
        text = list(document.encode())
        tokens = {
            "shared": [256, *text],
            "separate": [256, *text, 257],
            "bos": [256, *text],
            "eos": [*text, 256],
            "none": text,
        }[boundary]
        slots += [(token, owner) for token in tokens]
    return [*slots, (256, None)] if boundary == "shared" else slots


def naive_row(slots, length, policy, boundary):
    """(tokens, targets, segments, positions, weights) of a row that holds these slots."""
    padding = {"shared": 256, "separate": 257, "bos": 256, "eos": 256, "none": 0}[boundary]
    row = []
    segment = -1
    opened_at = 0
    for at in range(length):
        if at + 1 >= len(slots):
            row.append((padding, padding, -1, 0, 0.0))
            continue
        token, owner = slots[at]
        target, next_owner = slots[at + 1]
        if at == 0 or owner != slots[at - 1][1]:
            segment += 1
            opened_at = at
        is_join = boundary != "shared" and next_owner != owner
        row.append(
            (
                token,
                target,
                segment if policy.isolation == "segments" else 0,
                at - opened_at if policy.positions == "restart" else at,
                0.0 if is_join and policy.loss == "no-cross" else 1.0,
            )
        )
    return [list(column) for column in zip(*row, strict=True)]


def naive_windows(documents, boundary, length, policy):
    """The rows of `concatenate`: every window of the stream, each beginning with the last token of the one before."""
    slots = naive_slots(documents, boundary)
    windows = [slots[begin : begin + length + 1] for begin in range(0, len(slots) - 1, length)]
    return [naive_row(window, length, policy, boundary) for window in windows]


def naive_pieces(documents, boundary, length):
    """What `fit` may put into a row: a document, or of a longer one every window."""
    pieces = []
    for owner, document in enumerate(documents):
        slots = [
            (token, None if slot_owner is None else owner) for token, slot_owner in naive_slots([document], boundary)
        ]
        begins = range(0, max(1, len(slots) - 1), length)
        pieces += [Piece(slots[begin : begin + length + 1], begin == 0) for begin in begins]
    return pieces


def joined(pieces, boundary):
    """The slots of one row: where the boundary is shared, a closing is the opening of what follows."""
    slots = []
    for piece in pieces:
        slots = (slots[:-1] if boundary == "shared" else slots) + piece
    return slots


def naive_best_fit(sizes, capacity, alone=()):
    """Best fit decreasing, one piece at a time: the rooms that remain, sorted. `alone` get a bin each beforehand."""
    rooms = [capacity - size for size in alone]
    for size in sorted(sizes, reverse=True):
        enough = [room for room in rooms if room >= size]
        if enough:
            rooms.remove(min(enough))
        rooms.append((min(enough) if enough else capacity) - size)
    return sorted(rooms)
