"""Read labels of any format, and the plan of an import."""

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

    image: str  # path in the project, or in the source if both labels are there
    ours: str  # `label_path` of the label in the project
    theirs: str  # `label_path` of the label in the source
    who: str  # annotator in the source


@dataclass(frozen=True)
class ClassConflict:
    """A label with an ambiguous class."""

    image: str  # as in the source
    written: str  # path or name of the class in the source
    source_id: str  # or ""
    by_name: tuple[str, ...]  # paths of classes with this path, name or synonym
    by_id: tuple[str, ...]  # paths of classes with this source id
    who: str  # annotator in the source


@dataclass(frozen=True)
class ContentConflict:
    """A label of another photo with the name of one in the project."""

    image: str  # as in the source
    ours: str  # path in the project
    reason: str  # "other content", or why its file cannot be read


@dataclass(frozen=True)
class LooselySpelled:
    """A name that differs from a class's by capitals, blanks, underscores or accents."""

    path: str  # of the class
    labels: int


@dataclass(frozen=True)
class LabelPlan:
    """The plan of an import."""

    format_name: str  # of the source
    labels: tuple[Label, ...] = ()  # to import, of known images and classes
    # paths of missing classes, with numbers of labels
    new_classes: dict[tuple[str, ...], int] = field(default_factory=dict)
    waiting: tuple[ForeignLabel, ...] = ()  # labels of missing classes or images
    already_there: int = 0  # number of known labels
    conflicts: tuple[LabelConflict, ...] = ()  # with labels of the project
    contradictions: tuple[LabelConflict, ...] = ()  # within the source
    missing_images: tuple[str, ...] = ()  # as named in the source
    by_machine: int = 0  # number of predictions, which are not imported
    unlabelled: int = 0  # number of images in the source without a class
    problems: tuple[str, ...] = ()  # one line each
    # flat keywords that are not classes, with numbers of photos
    suggestions: dict[str, int] = field(default_factory=dict)
    class_conflicts: tuple[ClassConflict, ...] = ()  # labels with an ambiguous class
    notes: tuple[Note, ...] = ()  # stars, flags and comments of images that have none
    content_conflicts: tuple[ContentConflict, ...] = ()  # labels of other photos with the same name
    # by name in the source
    loosely_spelled: dict[str, LooselySpelled] = field(default_factory=dict)
    # names imported as none of the classes, with numbers of labels
    as_none: dict[str, int] = field(default_factory=dict)
    # with the paths of several images
    ambiguous_images: dict[str, tuple[str, ...]] = field(default_factory=dict)
    new_labels: int = 0  # number of labels of new parts of known images
    new_parts: tuple[NewPart, ...] = ()  # boxes, pages and moments
    field_values: tuple[FieldValue, ...] = ()  # values of fields, such as count and sex
    table: TableReading | None = None  # recognised columns of a table

    def boxes(self, threshold: float) -> int:
        """Number of new parts at a threshold of detector scores."""
        return sum(each.is_wanted(threshold) for each in self.new_parts)

    @property
    def has_scores(self) -> bool:
        """Whether the threshold matters."""
        return any(
            each.is_of_machine and each.item.detection_score is not None for each in self.new_parts
        )


ReadLabels = tuple[str, ForeignLabels]  # format of a source, and its labels


def read_labels(
    source: Path, format_name: str = AUTO, columns: Mapping[str, str] | None = None
) -> ReadLabels:
    """Read a source and detect its format; its paths are relative to the working folder.

    Args:
        columns: of a table, by role, as chosen by a person; see `engine.interchange.tables`.

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
    """Whether a file contains labels, by its content."""
    try:
        fits = READ_FORMATS[detect(path)].fits if path.is_file() else None
        return fits is not None and fits(path)
    except (ProtoleafError, OSError):
        return False
