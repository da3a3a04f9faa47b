"""What importing labels would do, as it is shown to a person first: plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engine.collection.importing.match_images import NewPart
from engine.errors import ProtoleafError, UsageError
from engine.images.photo_facts import photo_keywords
from engine.interchange.labelled_images.foreign_labels import (
    ForeignLabel,
    ForeignLabels,
    TableReading,
)
from engine.interchange.labelled_images.formats import (
    AUTO,
    READ_FORMATS,
    detect,
    file_with_labels,
    format_named,
)
from engine.project.records import FieldValue, Label, Note
from engine.texts import Message


@dataclass(frozen=True)
class LabelConflict:
    """Two labels of one image differ."""

    image: str  # its path in the project, or in the source where that has both labels
    ours: str  # `label_path` of the label in the project
    theirs: str  # the same of that in the source
    who: str  # the person of the source


@dataclass(frozen=True)
class ClassConflict:
    """A label of which it is not clear which class it names."""

    image: str  # as the source calls it
    written: str  # path or name of the class in the source
    source_id: str  # its id there; "" for none
    by_name: tuple[str, ...]  # paths of the classes that path, name or synonym mean here
    by_id: tuple[str, ...]  # paths of the classes that have this id here
    who: str  # the person of the source


@dataclass(frozen=True)
class ContentConflict:
    """A label of a photo that the project does not have, though it has one of this name."""

    image: str  # as the source calls it
    ours: str  # path of the project's image with the same path or end of it
    reason: str  # "other content", or why its file could not be read


@dataclass(frozen=True)
class SpelledOtherwise:
    """A name in the source that differs from a class's by capitals, blanks, underscores or composed accents."""

    path: str  # of the class in the project
    labels: int


@dataclass(frozen=True)
class LabelPlan:
    """What importing a source would do."""

    format_name: str  # what the source is
    labels: tuple[
        Label, ...
    ] = ()  # those that would be taken over, of images and classes that are there
    new_classes: dict[tuple[str, ...], int] = field(
        default_factory=dict
    )  # paths of missing classes, with label counts
    waiting: tuple[ForeignLabel, ...] = ()  # labels of classes or images that are missing
    already_there: int = 0  # labels that the project has
    conflicts: tuple[LabelConflict, ...] = ()  # where the project says something else
    contradictions: tuple[LabelConflict, ...] = ()  # images of which the source says two things
    missing_images: tuple[
        str, ...
    ] = ()  # images that the project does not have, as the source names them
    by_machine: int = 0  # answers of a model, which are no labels
    unlabelled: int = 0  # images of the source without a class
    problems: tuple[str, ...] = ()  # what could not be understood, one line each
    suggestions: dict[str, int] = field(
        default_factory=dict
    )  # flat keywords that name no class, with photo counts
    class_conflicts: tuple[
        ClassConflict, ...
    ] = ()  # labels of which it is not clear which class they name
    notes: tuple[Note, ...] = ()  # stars, flags and comments of images that have none
    content_conflicts: tuple[ContentConflict, ...] = ()  # labels of another photo of the same name
    spelled_otherwise: dict[str, SpelledOtherwise] = field(
        default_factory=dict
    )  # by the name in the source
    as_none: dict[str, int] = field(
        default_factory=dict
    )  # names read as none of the classes, with label counts
    ambiguous_images: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Images that several of the project may be, with their paths."""
    new_labels: int = 0  # labels of classes that are there, on such parts of images that are there
    new_parts: tuple[NewPart, ...] = ()  # boxes, pages and moments that the project does not have
    field_values: tuple[FieldValue, ...] = ()  # counts, sex and the like of images of the project
    table: TableReading | None = None  # how the columns of a table were understood

    def boxes(self, threshold: float) -> int:
        """How many of the new parts become images where a detector's score must be as high."""
        return sum(each.is_wanted(threshold) for each in self.new_parts)

    @property
    def has_scores(self) -> bool:
        """Whether a threshold makes a difference."""
        return any(
            each.is_of_machine and each.item.detection_score is not None for each in self.new_parts
        )


ReadLabels = tuple[str, ForeignLabels]  # the format of a source, and its labels


def read_labels(
    source: Path, format_name: str = AUTO, columns: Mapping[str, str] | None = None
) -> ReadLabels:
    """Read a source and detect its format; its paths are relative to the working folder.

    Args:
        columns: of a table, by role, as a person named them; see `engine.interchange.tables`.

    Raises:
        UsageError, FormatError, StorageError: it cannot be read.
    """
    source = source.absolute()
    if format_name == AUTO:
        source = file_with_labels(source)
    name = detect(source) if format_name == AUTO else format_name
    one = format_named(name, READ_FORMATS)
    if one.read_table is not None:
        return name, one.read_table(source, columns)
    if columns:
        raise UsageError(
            "{source} has no columns that could be named",
            expected="a table",
            found="{title}",
            remedy="leave out --column",
            source=source.name,
            title=Message(one.title),
        )
    if one.read_photos is not None:
        return name, one.read_photos(source, photo_keywords)
    assert one.read is not None, "one of them"
    return name, one.read(source)


def is_label_file(path: Path) -> bool:
    """Whether a file holds labels, by its content."""
    try:
        fits = READ_FORMATS[detect(path)].fits if path.is_file() else None
        return fits is not None and fits(path)
    except (ProtoleafError, OSError):
        return False
