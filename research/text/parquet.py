"""Parquet columns as bytes, row by row; pyarrow is an optional dependency and imported only here."""

from collections.abc import Iterator
from pathlib import Path

from contracts.errors import InputError

_ROWS_AT_ONCE = 1024


def parquet_values(path: Path, column: str) -> Iterator[bytes]:
    """The values of a string column as raw bytes, which nobody has verified to be UTF-8.

    Raises:
        InputError: for a missing pyarrow, an unreadable file, a missing column, one that is not of strings, a null.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        hint = "install the extra `data`: pip install '.[data]' in the project's folder"
        raise InputError(str(path), expected="pyarrow to read .parquet", got="none", hint=hint) from None
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            _require_strings(file.schema_arrow, column, path)
            batches = file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=[column])
            values = (value for batch in batches for value in batch.column(0).cast(pyarrow.large_binary()).to_pylist())
            for row, value in enumerate(values):
                if value is None:
                    where = f"row {row} of column {column!r}"
                    raise InputError(str(path), expected="a string", got="null", where=where)
                yield value
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(str(path), expected="a readable Parquet file", got=str(error)) from None


def _require_strings(schema, column: str, path: Path) -> None:
    from pyarrow.types import is_large_string, is_string

    if column not in schema.names:
        got = ", ".join(map(repr, schema.names))
        raise InputError(str(path), expected=f"a column {column!r}", got=got)
    kind = schema.field(column).type
    if not (is_string(kind) or is_large_string(kind)):
        raise InputError(str(path), expected=f"strings in column {column!r}", got=str(kind))
