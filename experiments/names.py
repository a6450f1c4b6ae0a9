"""Files by names that people and JSON can read: as short as tells them apart, whatever bytes they are made of."""

import os
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import PurePath


def printable(name: str) -> str:
    r"""`name` with what can't be shown or encoded escaped: a byte that is not UTF-8 as `\xe9`, a line end as `\n`.

    A backslash is doubled, so that different names stay different.
    """
    decoded = os.fsencode(name.replace("\\", "\\\\")).decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in decoded)


def distinguished(paths: Sequence[PurePath], least: Sequence[int], taken: Collection[str] = ()) -> list[str]:
    """The last parts of each path: `least` of them, and as many more as tell it from the others and from `taken`.

    The paths must differ, and be longer than the names in `taken`.
    """
    names = ["/".join(path.parts[-parts:]) for path, parts in zip(paths, least, strict=True)]
    counts = Counter([*names, *taken])
    if all(counts[name] == 1 for name in names):
        return names
    longer = [parts + (counts[name] > 1) for name, parts in zip(names, least, strict=True)]
    return distinguished(paths, longer, taken)
