"""A class about to be split: which of its images stay with it, and which go to a new class. No Qt."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class SplitDraft:
    """What would be done."""

    class_id: int
    name: str
    staying: tuple[int, ...]  # images labelled with it, each in one of both, in the order in which they are shown
    leaving: tuple[int, ...] = ()

    def moved(self, image_ids: Collection[int]) -> SplitDraft:
        """The draft with these images on the other side; there they come last."""
        chosen = frozenset(image_ids)
        arriving = tuple(each for each in self.staying if each in chosen)
        returning = tuple(each for each in self.leaving if each in chosen)
        return replace(
            self,
            staying=(*(each for each in self.staying if each not in chosen), *returning),
            leaving=(*(each for each in self.leaving if each not in chosen), *arriving),
        )

    def exchanged(self) -> SplitDraft:
        """The draft with both sides changing places."""
        return replace(self, staying=self.leaving, leaving=self.staying)


def first_draft(
    class_id: int, name: str, labelled: Sequence[int], chosen: Collection[int], kinds: Sequence[Sequence[int]]
) -> SplitDraft:
    """What is proposed: images that a person has chosen leave; else the smaller of two kinds that were found.

    Args:
        chosen: images that were chosen before, of whatever class.
        kinds: images of each kind, the larger one first; may be empty.
    """
    known = frozenset(labelled)
    leaving = known & frozenset(chosen)
    if not leaving or leaving == known:
        leaving = known & frozenset(kinds[1]) if len(kinds) > 1 else frozenset()
    return SplitDraft(class_id, name, tuple(labelled)).moved(leaving)
