"""Compares another copy with the project, and goes through the conflicts. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

import numpy as np

from engine.collection.importing.match_images import FileContents
from engine.collection.merging.merge import images_on_disk
from engine.collection.merging.merge_plan import CommentConflict, Conflict, MergePlan, Verdict
from engine.collection.merging.planning import open_other, plan_merge
from engine.collection.merging.settled import name_of_comment, name_of_label, settle, settle_comment
from engine.errors import InputError
from engine.project import Project

if TYPE_CHECKING:
    from engine.collection.live import LiveCollection
    from engine.collection.state import CollectionState
    from engine.events import CancelToken
    from engine.project import Change

Dispute = Conflict | CommentConflict
AHEAD: Final = 12  # disputes whose predictions are fetched before they come up
NEAREST: Final = 8  # labelled images of a class that are shown beside one of which two people think otherwise


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
    with Project.open(project_path, for_writing=False) as ours, open_other(project_path, source) as theirs:
        plan = plan_merge(ours, theirs, contents)
        files, _refused = images_on_disk(ours, source, plan.missing, cancel)
    paths = {item.file.path for item in files}
    return MergeSurvey(source, plan, frozenset(each.image_id for each in plan.missing if each.file.absolute() in paths))


def disputes_of(conflicts: Sequence[Conflict], comments: Sequence[CommentConflict]) -> tuple[Dispute, ...]:
    """What is to be settled: labels first, those of two classes before coarse and fine ones, then comments."""
    return (*sorted(conflicts, key=lambda each: each.finer is not None), *comments)


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
    """Goes through disputes: settled ones are done, those for later come again at the end."""

    def __init__(self, disputes: Sequence[Dispute]) -> None:
        self.disputes = tuple(disputes)
        self.place = 0
        self._settled: set[int] = set()
        self._later: set[int] = set()

    @property
    def current(self) -> Dispute | None:
        """What is to be settled now; None at the end."""
        return self.disputes[self.place] if self.place < len(self.disputes) else None

    @property
    def image_ids_ahead(self) -> tuple[int, ...]:
        """Images of the current dispute and the next ones."""
        ahead = self.disputes[self.place : self.place + AHEAD]
        return tuple(dict.fromkeys(each.image_id for each in ahead))

    @property
    def settled(self) -> int:
        """How many are settled."""
        return len(self._settled)

    @property
    def left(self) -> int:
        """How many are open."""
        return len(self.disputes) - len(self._settled)

    def mark_settled(self) -> None:
        """The current one is settled; go on."""
        self._settled.add(self.place)
        self._go_on()

    def put_off(self) -> None:
        """Leave the current one open; go on."""
        self._later.add(self.place)
        self._go_on()

    def pass_over(self, is_there: Callable[[int], bool]) -> None:
        """Leave those open whose images were removed from the project meanwhile."""
        while self.current is not None and not is_there(self.current.image_id):
            self.put_off()

    def begin_again(self) -> None:
        """Go through what was left for later."""
        self._later.clear()
        self.place = -1
        self._go_on()

    def reopen(self, settings: Sequence[str]) -> bool:
        """The decisions in these settings were taken back: show the first of them again."""
        names = frozenset(settings)
        found = [place for place in sorted(self._settled) if setting_of(self.disputes[place]) in names]
        self._settled -= set(found)
        if found:
            self.place = found[0]
        return bool(found)

    def repeat(self, settings: Sequence[str]) -> bool:
        """The decisions in these settings were made again: they are settled."""
        names = frozenset(settings)
        places = range(len(self.disputes))
        found = {place for place in places if setting_of(self.disputes[place]) in names} - self._settled
        self._settled |= found
        if found:
            self.place = max(found)
            self._go_on()
        return bool(found)

    def _go_on(self) -> None:
        self.place += 1
        while self.place < len(self.disputes) and self.place in self._settled | self._later:
            self.place += 1


def settled_as(project: Project, dispute: Dispute, choice: Verdict, class_id: int) -> Change:
    """Settle one, as one undoable step, unless the image was labelled or noted otherwise meanwhile.

    Raises:
        InputError: it is not what was shown.
    """
    if isinstance(dispute, CommentConflict):
        note = project.notes.of(dispute.image_id)
        check_unchanged(dispute.path, is_same=note is not None and note.comment == dispute.ours.comment)
        return settle_comment(project, dispute, choice)
    label = project.labels.of(dispute.image_id)
    is_same = label is not None and label.code == dispute.ours.code
    check_unchanged(dispute.path, is_same=is_same)
    return settle(project, dispute, choice, class_id)


def check_unchanged(path: str, *, is_same: bool) -> None:
    """Refuse to settle what is not as it was shown."""
    if not is_same:
        raise InputError(
            "{path} was changed meanwhile", remedy="merge again to see the conflicts that are left", path=path
        )


def nearest_of(live: LiveCollection, image_id: int, class_ids: Sequence[int | None]) -> tuple[tuple[int, ...], ...]:
    """For each class its labelled images that are most like an image, and not the image itself."""
    embedded = live.embedded
    row = embedded.ready_row(image_id)
    images, labels = embedded.images.ids, embedded.images.labels
    found = []
    for class_id in class_ids:
        of_class = images[(labels == class_id) & (images != image_id)] if class_id is not None else images[:0]
        rows = embedded.rows_of(of_class)
        ready = embedded.store.is_filled[rows]
        if row is None or not ready.any():
            found.append(tuple(of_class[:NEAREST].tolist()))
            continue
        own = embedded.store.floats(np.array([row]))[0]
        distances = ((embedded.store.floats(rows[ready]) - own) ** 2).sum(axis=1)
        found.append(tuple(of_class[ready][np.argsort(distances, kind="stable")[:NEAREST]].tolist()))
    return tuple(found)
