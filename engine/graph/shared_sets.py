"""Sets of class ids by key, made for many small ones: a copy shares them with its original until one of the two edits.

A project's graph is held several times: on the project thread, by the window, by the fit that is running.
"""

from collections.abc import Collection, Hashable
from typing import Final, Generic, TypeVar, final

ClassId = int
Key = TypeVar("Key", bound=Hashable)

MOST_IN_TUPLE: Final = 8
"""Up to so many ids a tuple is smaller than a set, and as quick to search."""


@final
class SharedSets(Generic[Key]):
    """A set of ids for each key; keys without ids take no room. Copies may be read and edited on different threads."""

    def __init__(self) -> None:
        self._held: dict[Key, tuple[ClassId, ...] | set[ClassId]] = {}
        self._own: set[Key] = set()  # sets that no copy shares, which may therefore be changed in place

    def of(self, key: Key) -> Collection[ClassId]:
        """The ids of a key; to be read, not kept over an edit."""
        return self._held.get(key, ())

    def __len__(self) -> int:
        """Number of keys with ids."""
        return len(self._held)

    def add(self, key: Key, class_id: ClassId) -> None:
        """Put an id to those of a key; one that is there stays."""
        held = self._held.get(key, ())
        if class_id in held:
            return
        if len(held) < MOST_IN_TUPLE:
            self._held[key] = (*held, class_id)
        else:
            self._own_set(key, held).add(class_id)

    def discard(self, key: Key, class_id: ClassId) -> None:
        """Take an id from those of a key, if it is there."""
        held = self._held.get(key, ())
        if class_id not in held:
            return
        if len(held) == 1:
            del self._held[key]
            self._own.discard(key)
        elif len(held) <= MOST_IN_TUPLE:
            self._held[key] = tuple(each for each in held if each != class_id)
            self._own.discard(key)
        else:
            self._own_set(key, held).discard(class_id)

    def drop(self, key: Key) -> None:
        """Take all ids of a key."""
        self._held.pop(key, None)
        self._own.discard(key)

    def copy(self) -> "SharedSets[Key]":
        """Make an equal one that goes its own way from here; costs one dictionary, whatever is in the sets."""
        twin = SharedSets[Key]()
        twin._held = self._held.copy()
        self._own = set()
        return twin

    def _own_set(self, key: Key, held: Collection[ClassId]) -> set[ClassId]:
        if key in self._own and isinstance(held, set):
            return held
        own = set(held)
        self._held[key] = own
        self._own.add(key)
        return own
