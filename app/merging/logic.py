"""Compares another copy with the project, and goes through the conflicts. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

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
    from engine.collection.state import CollectionState
    from engine.events import CancelToken
    from engine.project import Change

Dispute = Conflict | CommentConflict
DisputeGroup = tuple[Dispute, ...]
"""One dispute, or those of a burst that are settled together."""
AHEAD: Final = 12  # disputes whose predictions are fetched before they come up
NEAREST: Final = (
    8  # labelled images of a class that are shown beside one of which two people think otherwise
)


@dataclass(frozen=True)
class MergeSurvey:
    """Another copy, compared with the project."""

    source: Path
    plan: MergePlan
    on_disk: frozenset[int]  # ids of missing images whose files were found and may be added


def survey_merge(project_path: Path, source: Path, cancel: CancelToken) -> MergeSurvey:
    """Compare another copy with the project; both are only read.

    Raises:
        ProtoleafError: it cannot be merged.
        Cancelled: the work was stopped.
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
    """What is to be settled: labels first, those of two classes before coarse and fine ones, then comments.

    Images of a burst, and copies of each other, with the same two labels are settled together.
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


def has_image(state: CollectionState, image_id: int) -> bool:
    """Whether an image is in the project."""
    try:
        state.position(image_id)
    except KeyError:
        return False
    return True


def setting_of(dispute: Dispute) -> str:
    """The project's setting that remembers how it was settled."""
    name = name_of_comment if isinstance(dispute, CommentConflict) else name_of_label
    return name(dispute.image_id)


@final
class Queue:
    """Goes through disputes, those of a group at once: settled ones are done, those for later come again at the end."""

    def __init__(self, groups: Sequence[DisputeGroup]) -> None:
        self.groups = list(groups)
        self.place = 0
        self._settled: set[DisputeGroup] = set()
        self._later: set[DisputeGroup] = set()

    @property
    def disputes(self) -> tuple[Dispute, ...]:
        """All of them."""
        return tuple(chain.from_iterable(self.groups))

    @property
    def current(self) -> DisputeGroup | None:
        """What is to be settled now; None at the end."""
        return self.groups[self.place] if self.place < len(self.groups) else None

    @property
    def image_ids_ahead(self) -> tuple[int, ...]:
        """Images of the current dispute and the next ones."""
        ahead = chain.from_iterable(self.groups[self.place : self.place + AHEAD])
        return tuple(dict.fromkeys(each.image_id for each in ahead))

    @property
    def settled(self) -> int:
        """How many disputes are settled."""
        return sum(map(len, self._settled))

    @property
    def left(self) -> int:
        """How many are open."""
        return len(self.disputes) - self.settled

    def mark_settled(self) -> None:
        """The current ones are settled; go on."""
        self._settled.add(self.groups[self.place])
        self._go_on()

    def put_off(self) -> None:
        """Leave the current ones open; go on."""
        self._later.add(self.groups[self.place])
        self._go_on()

    def take_apart(self) -> None:
        """Ask for each image of the current group by itself."""
        self.groups[self.place : self.place + 1] = [(each,) for each in self.groups[self.place]]

    def pass_over(self, is_there: Callable[[int], bool]) -> None:
        """Leave those open whose images were removed from the project meanwhile."""
        while self.current is not None:
            there = tuple(each for each in self.current if is_there(each.image_id))
            if there:
                self.groups[self.place] = there
                return
            self.put_off()

    def begin_again(self) -> None:
        """Go through what was left for later."""
        self._later.clear()
        self.place = -1
        self._go_on()

    def reopen(self, settings: Sequence[str]) -> bool:
        """The decisions in these settings were taken back: show the first of them again."""
        found = [
            place for place in self._places_of(settings) if self.groups[place] in self._settled
        ]
        self._settled -= {self.groups[place] for place in found}
        if found:
            self.place = found[0]
        return bool(found)

    def repeat(self, settings: Sequence[str]) -> bool:
        """The decisions in these settings were made again: they are settled."""
        found = [
            place for place in self._places_of(settings) if self.groups[place] not in self._settled
        ]
        self._settled |= {self.groups[place] for place in found}
        if found:
            self.place = found[-1]
            self._go_on()
        return bool(found)

    def _places_of(self, settings: Sequence[str]) -> list[int]:
        """Places of the groups that settings remember, ascending."""
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
    """Settle all of a group, as one undoable step, unless an image was labelled or noted otherwise meanwhile.

    Raises:
        InputError: one is not what was shown.
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
    """Refuse to settle what is not as it was shown."""
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
    """For each class its labelled images that are most like the first of some images, and none of these."""
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
