"""Sort order of names: natural by default, else the collation of the window's language."""

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from engine.search_folding import folded

Key = Callable[[str], Any]
"""Returns the sort key of a name; keys of one such function need `<` alone."""
Item = TypeVar("Item")

_DIGITS = re.compile(r"(\d+)")


def natural_key(name: str) -> tuple[list[str | int], str]:
    """Sort key by which "Leaf 9" comes before "leaf 10", and "Äsche" before "Bach".

    Folded text and numbers in turn, then the name itself. It is the same everywhere, for the
    command line and its output: letters with accents are sorted with those without, as in most
    languages, also where one sorts them elsewhere (Swedish Å after Z), and Chinese by its
    characters' numbers.
    """
    pieces = _DIGITS.split(folded(name))
    return [int(piece) if index % 2 else piece for index, piece in enumerate(pieces)], name


_keys: list[Key] = [natural_key]


def collate_with(key: Key | None) -> None:
    """Set the sort key of displayed names in this process; None for the natural order.

    A key is recognised by its identity: sorted lists are rebuilt once `collation` returns another
    one.
    """
    _keys[:] = [natural_key if key is None else key]


def collation() -> Key:
    """The sort key of displayed names."""
    return _keys[0]


def in_order(
    items: Iterable[Item], name_of: Callable[[Item], str], key: Key | None = None
) -> list[Item]:
    """Sort items by their names; equal ones, such as "ab" and "AB", by code points.

    Args:
        key: by default `collation`.
    """
    key_of = collation() if key is None else key
    # Keys of a collator have no equality, so a tuple of key and name would never compare names.
    ordered = sorted(items, key=name_of)
    ordered.sort(key=lambda item: key_of(name_of(item)))
    return ordered
