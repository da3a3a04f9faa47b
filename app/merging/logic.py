"""Comparison of another copy with the project, and the queue of conflicts. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np

from engine.collection.folding.partitions import ALONE
from engine.collection.importing.match_images import FileContents
from engine.errors import InputError
from engine.merging.merge import images_on_disk
from engine.merging.merge_plan import CommentConflict, Conflict, MergePlan, Verdict
from engine.merging.planning import open_other, plan_merge
from engine.merging.settled import name_of_comment, name_of_label, settle, settle_comment
from engine.project import Project

if TYPE_CHECKING:
    from engine.collection.folding.folds import Folds
    from engine.collection.live import LiveCollection
    from engine.events import CancelToken
    from engine.project import Change

Dispute = Conflict | CommentConflict
DisputeGroup = tuple[Dispute, ...]
"""A dispute, or those of a burst that are settled together."""
AHEAD = 12  # number of disputes whose predictions are prefetched
NEAREST = 8
"""Labelled images of a class shown next to a disputed image."""


@dataclass(frozen=True)
class MergeSurvey:
    """Another copy, compared with the project."""

    source: Path
    plan: MergePlan
    on_disk: frozenset[int]  # ids of missing images whose files exist


def survey_merge(project_path: Path, source: Path, cancel: CancelToken) -> MergeSurvey:
    """Compare another copy with the project; neither is changed.

    Raises:
        ProtoleafError: it cannot be merged.
        Cancelled: `cancel` was set.
    """
    contents = FileContents(cancel)
    with (
        Project.open(project_path, for_writing=False) as ours,
        open_other(project_path, source) as theirs,
    ):
        plan = plan_merge(ours, theirs, contents)
        files, _refused = images_on_disk(ours, source, plan.missing, cancel)
    paths = {item.file.path for item in files}
    return MergeSurvey(
        source,
        plan,
        frozenset(each.image_id for each in plan.missing if each.file.absolute() in paths),
    )


def disputes_of(
    conflicts: Sequence[Conflict], comments: Sequence[CommentConflict], folds: Folds
) -> tuple[DisputeGroup, ...]:
    """Disputes in order: labels of different classes, of coarse and fine classes, comments.

    Images of a fold with the same two labels are settled together.
    """
    labels = sorted(conflicts, key=lambda each: each.finer is not None)
    found = folds.of(np.array([each.image_id for each in labels], dtype=np.int64)).tolist()
    groups: dict[Hashable, list[Dispute]] = {}
    for fold, each in zip(found, labels, strict=True):
        key = (
            each.image_id
            if fold == ALONE
            else (fold, each.ours.code, each.theirs.code, each.is_update)
        )
        groups.setdefault(key, []).append(each)
    return (*map(tuple, groups.values()), *((each,) for each in comments))


def setting_of(dispute: Dispute) -> str:
    """Project setting that stores the decision on a dispute."""
    name = name_of_comment if isinstance(dispute, CommentConflict) else name_of_label
    return name(dispute.image_id)


@final
class Queue:
    """Queue of groups of disputes; deferred ones are repeated on request."""

    def __init__(self, groups: Sequence[DisputeGroup]) -> None:
        self.groups = list(groups)
        self.place = 0
        self._settled: set[DisputeGroup] = set()
        self._later: set[DisputeGroup] = set()

    @property
    def disputes(self) -> tuple[Dispute, ...]:
        """All disputes."""
        return tuple(chain.from_iterable(self.groups))

    @property
    def current(self) -> DisputeGroup | None:
        """Current group; None at the end."""
        return self.groups[self.place] if self.place < len(self.groups) else None

    @property
    def image_ids_ahead(self) -> tuple[int, ...]:
        """Images of the current and the next disputes."""
        ahead = chain.from_iterable(self.groups[self.place : self.place + AHEAD])
        return tuple(dict.fromkeys(each.image_id for each in ahead))

    @property
    def settled(self) -> int:
        """Number of settled disputes."""
        return sum(map(len, self._settled))

    @property
    def left(self) -> int:
        """Number of open disputes."""
        return len(self.disputes) - self.settled

    def mark_settled(self) -> None:
        """Mark the current group as settled and go to the next."""
        self._settled.add(self.groups[self.place])
        self._go_on()

    def put_off(self) -> None:
        """Leave the current group open and go to the next."""
        self._later.add(self.groups[self.place])
        self._go_on()

    def take_apart(self) -> None:
        """Split the current group into single images."""
        self.groups[self.place : self.place + 1] = [(each,) for each in self.groups[self.place]]

    def pass_over(self, is_there: Callable[[int], bool]) -> None:
        """Skip disputes whose images were removed from the project."""
        while self.current is not None:
            there = tuple(each for each in self.current if is_there(each.image_id))
            if there:
                self.groups[self.place] = there
                return
            self.put_off()

    def begin_again(self) -> None:
        """Return to deferred groups."""
        self._later.clear()
        self.place = -1
        self._go_on()

    def reopen(self, settings: Sequence[str]) -> bool:
        """Reopen groups whose decisions (by setting) were undone, and show the first."""
        found = [
            place for place in self._places_of(settings) if self.groups[place] in self._settled
        ]
        self._settled -= {self.groups[place] for place in found}
        if found:
            self.place = found[0]
        return bool(found)

    def repeat(self, settings: Sequence[str]) -> bool:
        """Mark groups whose decisions (by setting) were redone as settled."""
        found = [
            place for place in self._places_of(settings) if self.groups[place] not in self._settled
        ]
        self._settled |= {self.groups[place] for place in found}
        if found:
            self.place = found[-1]
            self._go_on()
        return bool(found)

    def _places_of(self, settings: Sequence[str]) -> list[int]:
        """Indices of the groups whose decisions are stored in these settings, ascending."""
        names = frozenset(settings)
        return [
            place
            for place, group in enumerate(self.groups)
            if not names.isdisjoint(map(setting_of, group))
        ]

    def _go_on(self) -> None:
        self.place += 1
        done = self._settled | self._later
        while self.place < len(self.groups) and self.groups[self.place] in done:
            self.place += 1


def settled_as(project: Project, group: DisputeGroup, choice: Verdict, class_id: int) -> Change:
    """Settle a group in one undoable step.

    Raises:
        InputError: a label or note has changed since the dispute was shown.
    """
    for dispute in group:
        _check_unchanged(project, dispute)
    with project.history.one_step() as step:
        for dispute in group:
            if isinstance(dispute, CommentConflict):
                step.action = settle_comment(project, dispute, choice).action
            else:
                step.action = settle(project, dispute, choice, class_id).action
    return step.change


def _check_unchanged(project: Project, dispute: Dispute) -> None:
    """Check that the label or note is the one that was shown."""
    if isinstance(dispute, CommentConflict):
        note = project.notes.of(dispute.image_id)
        is_same = note is not None and note.comment == dispute.ours.comment
    else:
        label = project.labels.of(dispute.image_id)
        is_same = label is not None and label.code == dispute.ours.code
    if not is_same:
        raise InputError(
            "{path} was changed meanwhile",
            remedy="merge again to see the conflicts that are left",
            path=dispute.path,
        )


def nearest_of(
    live: LiveCollection, image_ids: Sequence[int], class_ids: Sequence[int | None]
) -> tuple[tuple[int, ...], ...]:
    """Most similar labelled images of each class, compared with the first image."""
    embedded = live.embedded
    row = embedded.ready_row(image_ids[0])
    images, labels = embedded.images.ids, embedded.images.labels
    found = []
    for class_id in class_ids:
        of_class = (
            images[(labels == class_id) & ~np.isin(images, image_ids)]
            if class_id is not None
            else images[:0]
        )
        rows = embedded.rows_of(of_class)
        ready = embedded.store.is_filled[rows]
        if row is None or not ready.any():
            found.append(tuple(of_class[:NEAREST].tolist()))
            continue
        own = embedded.store.floats(np.array([row]))[0]
        distances = ((embedded.store.floats(rows[ready]) - own) ** 2).sum(axis=1)
        found.append(
            tuple(of_class[ready][np.argsort(distances, kind="stable")[:NEAREST]].tolist())
        )
    return tuple(found)
