"""Sequences whose values are made when they are read, of something that takes less memory than all of them."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

T = TypeVar("T")


class LazySequence(Sequence[T]):
    """A sequence that says what is at one place."""

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...
    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        return self._at(place)

    @abstractmethod
    def _at(self, place: int) -> T:
        """The value at a place, counted from the end below 0; raises `IndexError` beyond the end."""
