"""What merging another project would do, as it is shown to a person first: plain data."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from pathlib import Path

from engine.file_parts import WHOLE
from engine.merging.agreement import AgreementTable
from engine.merging.class_plan import ClassPlan
from engine.merging.field_plan import FieldPlan
from engine.merging.image_match import MatchedBy
from engine.project import Audit, ClassId, Exclusion, ImageId
from engine.project.records import NO_ORIGIN, BoxOrigin, Label, NewItem, Note


class Verdict(Enum):
    """How a conflict is settled."""

    OURS = "ours"
    THEIRS = "theirs"
    OTHER = "other"  # another class, or none of the classes


class Preference(Enum):
    """How all open conflicts are settled at once, where a person wants that."""

    OURS = "ours"
    THEIRS = "theirs"
    NEWER = "newer"


class ConflictKind(Enum):
    """In what two labels of one image differ."""

    CLASS = "class"
    REFINEMENT = "refinement"  # one class lies below the other one


@dataclass(frozen=True, slots=True)
class Side:
    """One person's answer."""

    code: ClassId  # of our graph, once the merged classes are there; or `UNKNOWN` or `EMPTY`
    path: str  # of the class; `NONE_OF_THEM` or `NOTHING_THERE`
    who: str
    when: datetime

    @property
    def class_id(self) -> ClassId | None:
        """None where there is no class."""
        return self.code if self.code >= 0 else None


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two people label one image differently, and nobody has settled it."""

    image_id: ImageId
    path: str  # of our image
    ours: Side
    theirs: Side
    is_update: bool = False  # whether they changed a label that both had: nothing that two people found independently
    finer: Verdict | None = None  # whose class lies below the other one

    @property
    def proposed(self) -> Verdict | None:
        """The likely answer: their change of a label that both had, else the finer class; None where nothing says."""
        return Verdict.THEIRS if self.is_update else self.finer

    @property
    def kind(self) -> ConflictKind:
        """In what the labels differ."""
        return ConflictKind.CLASS if self.finer is None else ConflictKind.REFINEMENT


@dataclass(frozen=True, slots=True)
class CommentConflict:
    """Two people comment on one image differently, and nobody has settled it."""

    image_id: ImageId
    path: str  # of our image
    ours: Note
    theirs: Note  # of our image, too
    is_update: bool = False  # whether they changed a comment that both had

    @property
    def proposed(self) -> Verdict | None:
        """The likely answer: their change of a comment that both had; None where nothing says."""
        return Verdict.THEIRS if self.is_update else None


@dataclass(frozen=True, slots=True)
class AbsentImage:
    """An image that we do not have."""

    image_id: ImageId  # theirs
    path: str  # as the other project has it
    file: Path  # where it is, if the other project's folder is where it was
    size_bytes: int  # of the file when it was added there
    part: str = WHOLE  # of the file
    origin: BoxOrigin = NO_ORIGIN  # what a detector found there


@dataclass(frozen=True, slots=True)
class Waiting:
    """Labels of a class that is not here, and cannot come."""

    theirs: str  # path of the class there
    labels: int


@dataclass(frozen=True, slots=True)
class OutdatedLabel:
    """A label that does not count in the other project, because another photo is under that path now."""

    image: str  # its path there
    theirs: str  # path of the class there; `NONE_OF_THEM` or `NOTHING_THERE`
    who: str


@dataclass(frozen=True)
class MergePlan:
    """What merging another project would do."""

    source: Path  # the other project
    is_copy: bool  # whether both were one project once
    classes: ClassPlan
    matched: dict[MatchedBy, int]  # images that both have, by what speaks for it
    missing: tuple[AbsentImage, ...] = ()
    new_parts: tuple[NewItem, ...] = ()  # boxes and pages of files that both have, which come in
    other_content: tuple[str, ...] = ()  # paths of images that are other photos here
    labels: tuple[Label, ...] = ()  # those that come in
    same: int = (
        0  # labels that are one decision in both: from before the copies parted, or merged earlier
    )
    agreed: int = 0  # equal labels that each gave for themselves
    kept: int = 0  # where we decided anew, or removed a label, knowing theirs
    settled: int = 0  # conflicts that were settled earlier
    conflicts: tuple[Conflict, ...] = ()  # open ones, refinements included
    waiting: tuple[Waiting, ...] = ()
    outdated: tuple[
        OutdatedLabel, ...
    ] = ()  # left out, unless they were here before the photo was replaced there
    confirmations: tuple[
        Label, ...
    ] = ()  # of labels that are the same then; they come in with name and time
    notes: tuple[Note, ...] = ()  # of which what we lack comes in
    comments: tuple[CommentConflict, ...] = ()  # open ones
    stars_kept: int = 0  # images with other stars there; ours stay
    fields: FieldPlan = field(default_factory=FieldPlan)  # values of fields
    exclusions: tuple[Exclusion, ...] = ()  # those that come in, of images and classes of ours
    audits: tuple[Audit, ...] = ()  # those that come in or grow, with images and classes of ours
    agreement: AgreementTable = field(default_factory=AgreementTable)

    @property
    def images(self) -> int:
        """Number of images that both have."""
        return sum(self.matched.values())

    @property
    def has_news(self) -> bool:
        """Whether anything comes in, missing images and the settling of conflicts aside."""
        answers = self.labels or self.confirmations or self.exclusions or self.audits
        return bool(
            self.classes.edits or answers or self.notes or self.fields.values or self.new_parts
        )

    @property
    def refinements(self) -> int:
        """Number of open conflicts between a class and one below it."""
        return sum(each.kind is ConflictKind.REFINEMENT for each in self.conflicts)
