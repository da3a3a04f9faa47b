"""Comparison of a label file with the project. No Qt."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine.collection.importing.import_labels import images_on_disk, plan_labels
from engine.collection.importing.label_plan import LabelPlan, ReadLabels, read_labels
from engine.collection.importing.match_images import FileContents, PermittedImages
from engine.errors import FormatError
from engine.events import CancelToken
from engine.interchange.labelled_images.formats import READ_FORMATS, detect
from engine.project import Project
from engine.texts import Message, enumerated

DROPPED = frozenset(
    {
        ".csv",
        ".tsv",
        ".xlsx",
        ".xlsm",
        ".xls",
        ".ods",
        ".jsonl",
        ".manifest",
        ".json",
        ".xml",
        ".zip",
        ".parquet",
    }
)
"""Suffixes of dropped files that may contain labels; folders contain images."""


@dataclass(frozen=True)
class LabelSurvey:
    """A source of labels, compared with the project."""

    source: Path  # file or folder
    title: str  # of its format
    read: ReadLabels  # its content
    plan: LabelPlan
    people: tuple[str, ...]  # annotators of the labels to import, by descending number of labels
    is_nameless: bool  # whether labels have no annotator
    missing_images: tuple[str, ...]  # images that the project lacks; those found on disk first
    on_disk: frozenset[str]  # missing images found on disk
    # Number of labels to import, by (adds classes, adds images).
    counts: Mapping[tuple[bool, bool], int]
    contents: FileContents = field(default_factory=FileContents)  # files read so far


def may_be_labels(path: Path) -> bool:
    """Whether a dropped file may contain labels, by its suffix."""
    return path.suffix.casefold() in DROPPED


def survey_labels(
    project_path: Path,
    source: Path,
    cancel: CancelToken | None = None,
    *,
    columns: Mapping[str, str] | None = None,
) -> LabelSurvey:
    """Compare a source of labels with the project.

    Args:
        columns: of a table by role, as chosen by the user.

    Raises:
        FormatError, StorageError: the source cannot be read.
        Cancelled: `cancel` was set.
    """
    contents = FileContents(cancel)
    read = read_labels(source, _format_of(source), columns=columns)
    with Project.open(project_path, for_writing=False) as project:
        plan = plan_labels(project, source, read=read, contents=contents)
        found, refused = images_on_disk(plan, PermittedImages(project, source))
    on_disk, plan = frozenset(found), replace(plan, problems=(*plan.problems, *refused))
    both = (False, True)
    counts = {
        (classes, images): _labels_coming(plan, on_disk, classes, images)
        for classes in both
        for images in both
    }
    named = {label.who for label in read[1].labels}
    people = tuple(
        who
        for who, _count in Counter(label.who for label in plan.labels).most_common()
        if who in named
    )
    is_nameless = any(not label.who and not label.is_machine for label in read[1].labels)
    missing = tuple(sorted(plan.missing_images, key=lambda image: image not in on_disk))
    title = READ_FORMATS[plan.format_name].title
    return LabelSurvey(
        source, title, read, plan, people, is_nameless, missing, on_disk, counts, contents
    )


def _format_of(source: Path) -> str:
    try:
        return detect(source)
    except FormatError:
        titles = enumerated(Message(one.title) for one in READ_FORMATS.values())
        raise FormatError(
            "{source} is in none of the formats that labels are read from",
            expected="one of {titles}",
            remedy="choose another file, or the folder around it",
            source=source.name,
            titles=titles,
        ) from None


def _labels_coming(
    plan: LabelPlan, on_disk: frozenset[str], adds_classes: bool, adds_images: bool
) -> int:
    missing = set(plan.missing_images)
    coming = set()
    for label in plan.waiting:
        waits_for_class, waits_for_image = label.names in plan.new_classes, label.image in missing
        gets_class = adds_classes or not waits_for_class
        gets_image = (adds_images and label.image in on_disk) or not waits_for_image
        if gets_class and gets_image and (waits_for_class or waits_for_image):
            coming.add((label.image, label.part))
    return len(plan.labels) + plan.new_labels + len(coming)
