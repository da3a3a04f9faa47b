"""Plan of a merge with its conflicts: plain data that is shown before the merge."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path

from engine.file_parts import WHOLE
from engine.image_fields import ImageField
from engine.merging.agreement import AgreementTable
from engine.merging.class_plan import ClassPlan
from engine.merging.image_match import MatchedBy
from engine.project import Audit, ClassId, Exclusion, FieldValue, ImageId
from engine.project.records import NO_ORIGIN, BoxOrigin, Label, NewItem, Note


class Verdict(Enum):
    """How a conflict is settled."""

    OURS = "ours"
    THEIRS = "theirs"
    OTHER = "other"  # another class, or none of the classes


class Preference(Enum):
    """How all open conflicts are settled at once, if requested."""

    OURS = "ours"
    THEIRS = "theirs"
    NEWER = "newer"


class ConflictKind(Enum):
    """Kind of difference between two labels of one image."""

    CLASS = "class"
    REFINEMENT = "refinement"  # one class is a descendant of the other


@dataclass(frozen=True, slots=True)
class Side:
    """The label of one annotator."""

    code: ClassId  # of our graph with the merged classes; or `UNKNOWN` or `EMPTY`
    path: str  # of the class; `NONE_OF_THEM` or `NOTHING_THERE`
    who: str
    when: datetime

    @property
    def class_id(self) -> ClassId | None:
        """None for a label without a class."""
        return self.code if self.code >= 0 else None


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two different labels of one image, not settled yet."""

    image_id: ImageId
    path: str  # of our image
    ours: Side
    theirs: Side
    is_update: bool = False  # they changed a label that both had, so it is not independent
    finer: Verdict | None = None  # whose class is a descendant of the other

    @property
    def proposed(self) -> Verdict | None:
        """The likely answer: their change of a common label, else the finer class, else None."""
        return Verdict.THEIRS if self.is_update else self.finer

    @property
    def kind(self) -> ConflictKind:
        return ConflictKind.CLASS if self.finer is None else ConflictKind.REFINEMENT


@dataclass(frozen=True, slots=True)
class CommentConflict:
    """Two different comments on one image, not settled yet."""

    image_id: ImageId
    path: str  # of our image
    ours: Note
    theirs: Note  # of our image, too
    is_update: bool = False  # they changed a comment that both had

    @property
    def proposed(self) -> Verdict | None:
        """The likely answer: their change of a common comment, else None."""
        return Verdict.THEIRS if self.is_update else None


@dataclass(frozen=True, slots=True)
class AbsentImage:
    """An image that we do not have."""

    image_id: ImageId  # theirs
    path: str  # in the other project
    file: Path  # if the folder of the other project was not moved
    size_bytes: int  # of the file when it was added there
    part: str = WHOLE  # of the file
    origin: BoxOrigin = NO_ORIGIN  # of a box that a detector found


@dataclass(frozen=True, slots=True)
class Waiting:
    """Labels of a class that cannot be merged."""

    theirs: str  # path of the class there
    labels: int


@dataclass(frozen=True, slots=True)
class OutdatedLabel:
    """A label of a photo that was replaced in the other project."""

    image: str  # its path there
    theirs: str  # path of the class there; `NONE_OF_THEM` or `NOTHING_THERE`
    who: str


@dataclass(frozen=True)
class FieldPlan:
    """Values of fields to merge."""

    values: tuple[FieldValue, ...]  # of our images
    fields: tuple[ImageField, ...]  # definitions that these need
    kept: int  # values that differ or that our field does not accept: ours are kept


@dataclass(frozen=True)
class MergePlan:
    """Effects of a merge."""

    source: Path  # the other project
    is_copy: bool  # both are copies of one project
    classes: ClassPlan
    matched: dict[MatchedBy, int]  # common images by evidence
    missing: tuple[AbsentImage, ...]
    new_parts: tuple[NewItem, ...]  # boxes and pages of common files to add
    other_content: tuple[str, ...]  # paths of images that are other photos here
    labels: tuple[Label, ...]  # to add
    same: int  # labels that are one decision: from before the fork, or merged earlier
    agreed: int  # equal labels, given independently
    kept: int  # where we changed or removed a label that is the same as theirs
    settled: int  # conflicts that were settled earlier
    conflicts: tuple[Conflict, ...]  # open ones, refinements included
    waiting: tuple[Waiting, ...]
    outdated: tuple[OutdatedLabel, ...]  # left out, unless they were here before the replacement
    confirmations: tuple[Label, ...]  # of equal labels, with their annotator and time
    notes: tuple[Note, ...]  # of which what is missing is added
    comments: tuple[CommentConflict, ...]  # open ones
    stars_kept: int  # images with different stars: ours are kept
    fields: FieldPlan
    exclusions: tuple[Exclusion, ...]  # to add, of our images and classes
    audits: tuple[Audit, ...]  # to add or enlarge, with our images and classes
    agreement: AgreementTable

    @property
    def images(self) -> int:
        """Number of common images."""
        return sum(self.matched.values())

    @property
    def has_news(self) -> bool:
        """Whether there is anything to add, apart from missing images."""
        answers = self.labels or self.confirmations or self.exclusions or self.audits
        return bool(
            self.classes.edits or answers or self.notes or self.fields.values or self.new_parts
        )

    @property
    def refinements(self) -> int:
        """Number of open conflicts between a class and its descendant."""
        return sum(each.kind is ConflictKind.REFINEMENT for each in self.conflicts)
