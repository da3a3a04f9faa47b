"""The order of names: natural by default; the window sets the one of the language that it speaks."""

import re
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from engine.search_folding import folded

Key = Callable[[str], Any]
"""Gives what a name is sorted by; keys of one such function need `<` alone."""
Item = TypeVar("Item")

_DIGITS: Final = re.compile(r"(\d+)")


def natural_key(name: str) -> tuple[list[str | int], str]:
    """Sort key by which "Leaf 9" comes before "leaf 10", and "Äsche" before "Bach".

    Folded text and numbers in turn, then the name itself. The same everywhere, for the command line and what it writes:
    letters with accents stand beside those without, as in most languages, also where one has them elsewhere (Swedish Å
    after Z), and Chinese by its characters' numbers.
    """
    pieces = _DIGITS.split(folded(name))
    return [int(piece) if index % 2 else piece for index, piece in enumerate(pieces)], name


_keys: Final[list[Key]] = [natural_key]


def collate_with(key: Key | None) -> None:
    """Order names that people see by `key` from now on, in this process; None for the natural order.

    A key is recognised by its identity: what keeps an order makes it anew once `collation` returns another one.
    """
    _keys[:] = [natural_key if key is None else key]


def collation() -> Key:
    """The key that names that people see are ordered by."""
    return _keys[0]


def in_order(
    items: Iterable[Item], name_of: Callable[[Item], str], key: Key | None = None
) -> list[Item]:
    """Items by their names; equal ones, such as "ab" and "AB", by their characters' numbers, and then as they came.

    Args:
        key: by default `collation`.
    """
    key_of = collation() if key is None else key
    # Keys of a collator have no equality, so that a pair of key and name would never come to the name.
    ordered = sorted(items, key=name_of)
    ordered.sort(key=lambda item: key_of(name_of(item)))
    return ordered
