"""The common history of two copies of a project, by their steps, and the changes since."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from engine.project.clock import time_text
from engine.project.connection import Connection
from engine.project.file.file_state import read_mark
from engine.project.records import ClassId, FieldValue, ImageId, Label, Note
from engine.project.row_history import read_chunk
from engine.project.schema import CLASS, FIELD_VALUE, IMAGE, IMAGE_NOTE, LABEL
from engine.project.step import RowChange

Answer = Label | Note | FieldValue
Signed = tuple[str, str]  # who gave an answer, and when, as the file has it

_SELECT_STEPS = "SELECT step_id, done_at FROM journal_step WHERE is_undone = 0 ORDER BY step_id"
_CHUNKS = (
    "SELECT step_id, sequence FROM journal_chunk JOIN journal_step USING (step_id)"
    " WHERE is_undone = 0 AND step_id > ? ORDER BY step_id, sequence"
)


@dataclass(frozen=True)
class Since:
    """What one copy did since the fork.

    Attributes:
        classes_made: ids that mean another class in the other copy, or none.
        images_added: as well.
        labels: of images whose label changed: all their labels, including that at the fork.
        notes: of images whose note changed, as well.
        values: of images with another value of a field, as well.
    """

    classes_made: frozenset[ClassId] = frozenset()
    images_added: frozenset[ImageId] = frozenset()
    labels: Mapping[ImageId, set[Signed]] = field(default_factory=dict)
    notes: Mapping[ImageId, set[Signed]] = field(default_factory=dict)
    values: Mapping[ImageId, set[Signed]] = field(default_factory=dict)

    def answers(self, kind: type[Answer]) -> Mapping[ImageId, set[Signed]]:
        """Labels, notes or values."""
        return self.labels if kind is Label else self.notes if kind is Note else self.values

    def knew(self, image_id: ImageId, answer: Answer) -> bool:
        """Whether an answer of the other copy was here once."""
        return (answer.who, time_text(answer.when)) in self.answers(type(answer)).get(image_id, ())


@dataclass(frozen=True)
class Fork:
    """Two copies of one project."""

    ours: Since
    theirs: Since

    def is_same_image(self, our_id: ImageId, their_id: ImageId) -> bool:
        """Whether two ids mean the image that the project had before the fork."""
        added = self.ours.images_added, self.theirs.images_added
        return our_id == their_id and not any(our_id in each for each in added)

    def was_here(self, our_id: ImageId, their_id: ImageId, theirs: Answer) -> bool:
        """Whether the other copy's label or note was once ours: ours was decided knowing it."""
        is_old = self.is_same_image(our_id, their_id) and their_id not in self.theirs.answers(
            type(theirs)
        )
        return is_old or self.ours.knew(our_id, theirs)

    def was_there(self, our_id: ImageId, their_id: ImageId, ours: Answer) -> bool:
        """Whether our label or note was once the other copy's: theirs was decided knowing it."""
        is_old = self.is_same_image(our_id, their_id) and our_id not in self.ours.answers(
            type(ours)
        )
        return is_old or self.theirs.knew(their_id, ours)


def fork_of(ours: Connection, theirs: Connection) -> Fork | None:
    """Compare the histories of two files of the current version; None for different projects."""
    if read_mark(ours).project_id != read_mark(theirs).project_id:
        return None
    last = _last_common_step(ours, theirs)
    return Fork(_since(ours, last), _since(theirs, last))


def _last_common_step(ours: Connection, theirs: Connection) -> int:
    last = 0
    for one, other in zip(ours.each(_SELECT_STEPS), theirs.each(_SELECT_STEPS), strict=False):
        if one != other:
            break
        last = int(one[0])
    return last


def _since(connection: Connection, step_id: int) -> Since:
    classes: set[ClassId] = set()
    images: set[ImageId] = set()
    labels: dict[ImageId, set[Signed]] = {}
    notes: dict[ImageId, set[Signed]] = {}
    values: dict[ImageId, set[Signed]] = {}
    for table, before, after in _row_changes(connection, step_id):
        row = before or after
        if row is None:
            continue
        if table == LABEL.name:
            labels.setdefault(row[0], set()).update(each[2:4] for each in (before, after) if each)
        elif table == IMAGE_NOTE.name:
            notes.setdefault(row[0], set()).update(each[4:6] for each in (before, after) if each)
        elif table == FIELD_VALUE.name:
            values.setdefault(row[0], set()).update(each[3:5] for each in (before, after) if each)
        elif before is None and table == CLASS.name:
            classes.add(row[0])
        elif before is None and table == IMAGE.name:
            images.add(row[0])
    return Since(frozenset(classes), frozenset(images), labels, notes, values)


def _row_changes(connection: Connection, step_id: int) -> Iterator[RowChange]:
    for step, sequence in connection.rows(_CHUNKS, (step_id,)):
        yield from read_chunk(connection, step, sequence)
