"""Row changes as bytes: what the journal keeps of an action, small even for 100,000 rows."""

import json
import zlib
from collections.abc import Sequence
from typing import Any, Final

from engine.project.connection import Row
from engine.project.schema import JOURNALED_TABLES

RowChange = tuple[str, Row | None, Row | None]  # table, row before, row after; None where it was not there

_BYTES_KEY: Final = "bytes"  # JSON has no bytes; rows hold no dictionaries, so this one cannot be mistaken
_SMALL_LENGTH: Final = 512  # shorter texts do not get smaller
_QUICK: Final = 1  # zlib level; paths repeat so much that it already takes away nine tenths


def encoded(changes: Sequence[RowChange]) -> str | bytes:
    """Row changes as JSON text, compressed where that pays.

    Args:
        changes: in the order they were made.
    """
    text = json.dumps(changes, ensure_ascii=False, separators=(",", ":"), default=_from_bytes)
    return text if len(text) < _SMALL_LENGTH else zlib.compress(text.encode(), _QUICK)


def decoded(stored: str | bytes) -> list[RowChange]:
    """The row changes that `encoded` packed.

    Raises:
        ValueError: the text is not what `encoded` makes.
    """
    try:
        text = stored if isinstance(stored, str) else zlib.decompress(stored).decode()
        changes = [
            (table, _row(before), _row(after)) for table, before, after in json.loads(text, object_hook=_to_bytes)
        ]
        if strangers := {table for table, _, _ in changes} - JOURNALED_TABLES.keys():
            raise ValueError(f"no such table: {strangers}")
    except (zlib.error, KeyError, TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    return changes


def _row(values: list[Any] | None) -> Row | None:
    return None if values is None else tuple(values)


def _from_bytes(value: bytes) -> dict[str, str]:
    return {_BYTES_KEY: value.hex()}


def _to_bytes(value: dict[str, str]) -> bytes:
    return bytes.fromhex(value[_BYTES_KEY])
