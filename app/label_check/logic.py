"""Queue of suspect labels; the current one stays until it is settled. No Qt."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from engine.review.label_check import SuspectLabel


@final
class LabelQueue:
    """Open suspects by decreasing probability of an error; deferred ones come last."""

    def __init__(self) -> None:
        self.open: list[SuspectLabel] = []
        self.current: int | None = None  # image id
        self._settled: dict[int, SuspectLabel] = {}
        self._put_off: dict[int, None] = {}  # in the order of deferral

    def __len__(self) -> int:
        return len(self.open)

    @property
    def settled(self) -> Collection[int]:
        """Settled images, except undone ones."""
        return self._settled.keys()

    @property
    def current_suspect(self) -> SuspectLabel | None:
        return None if self.current is None else self.of(self.current)

    def of(self, image_id: int) -> SuspectLabel | None:
        return next((each for each in self.open if each.image_id == image_id), None)

    def settled_label(self, image_id: int) -> int | None:
        """Previous label of a settled image."""
        suspect = self._settled.get(image_id)
        return None if suspect is None else suspect.label

    def place_of(self, image_id: int) -> int | None:
        return next(
            (place for place, each in enumerate(self.open) if each.image_id == image_id), None
        )

    def renew(self, suspects: Iterable[SuspectLabel]) -> None:
        """Replace the suspects by the results of a new check; the current one keeps its place."""
        shown, place = self.current_suspect, self.current and self.place_of(self.current)
        found = [
            each
            for each in suspects
            if each.image_id not in self._settled and each.image_id != self.current
        ]
        self.open = sorted(found, key=lambda each: self._rank(each.image_id))
        if shown is not None:
            self.open.insert(min(place or 0, len(self.open)), shown)
        elif self.open:
            self.current = self.open[0].image_id

    def settle(self, image_ids: Collection[int]) -> None:
        """Remove settled images and go to the next."""
        following = self._following(image_ids)
        for each in self.open:
            if each.image_id in image_ids:
                self._settled[each.image_id] = each
        self.open = [each for each in self.open if each.image_id not in image_ids]
        self.current = following

    def put_off(self, image_ids: Collection[int]) -> None:
        """Move images to the end and go to the next."""
        following = self._following(image_ids)
        self._put_off.update(dict.fromkeys(image_ids))
        self.open.sort(key=lambda each: self._rank(each.image_id))
        self.current = self.open[0].image_id if following is None and self.open else following

    def reopen(self, image_ids: Iterable[int]) -> None:
        """Insert settled suspects again and make the last one current."""
        for image_id in image_ids:
            suspect = self._settled.pop(image_id, None)
            if suspect is not None:
                before = [each for each in self.open if each.probability >= suspect.probability]
                self.open.insert(
                    len([each for each in before if each.image_id not in self._put_off]), suspect
                )
                self.current = image_id

    def drop(self, is_outdated: Collection[int]) -> None:
        """Remove images whose label changed elsewhere, or that left the project."""
        if self.current in is_outdated:
            self.current = self._following(is_outdated)
        self.open = [each for each in self.open if each.image_id not in is_outdated]

    def go_to(self, image_id: int) -> None:
        if self.place_of(image_id) is not None:
            self.current = image_id

    def step(self, step: int) -> None:
        """Go to the previous or next suspect, if there is one."""
        place = None if self.current is None else self.place_of(self.current)
        if place is not None:
            self.current = self.open[max(0, min(len(self.open) - 1, place + step))].image_id

    def forget(self) -> None:
        self.open, self.current = [], None
        self._settled.clear()
        self._put_off.clear()

    def _rank(self, image_id: int) -> int:
        return list(self._put_off).index(image_id) + 1 if image_id in self._put_off else 0

    def _following(self, image_ids: Collection[int]) -> int | None:
        """First remaining image after the given ones; else the last remaining one."""
        places = [place for place, each in enumerate(self.open) if each.image_id in image_ids]
        start = places[-1] if places else -1
        later = [each.image_id for each in self.open[start + 1 :] if each.image_id not in image_ids]
        left = [each.image_id for each in self.open if each.image_id not in image_ids]
        return later[0] if later else left[-1] if left else None
