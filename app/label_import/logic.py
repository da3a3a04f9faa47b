"""What importing a file of labels would do, found out on a thread of its own. No Qt."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.collection.importing.import_labels import LabelPlan, images_on_disk, plan_labels
from engine.errors import FormatError, ProtoleafError
from engine.interchange.labelled_images.formats import READ_FORMATS, detect
from engine.project import Project

DROPPED: Final = frozenset({".csv", ".jsonl", ".json", ".xml", ".zip", ".parquet"})
"""Suffixes of files that may hold labels when they are dropped; folders are taken for images."""


@dataclass(frozen=True)
class LabelSurvey:
    """A source of labels, compared with the project.

    Attributes:
        source: the file or folder.
        title: of its format.
        plan: what would be done.
        on_disk: images that are missing in the project and whose files are found, as the source names them.
        counts: labels that would be taken over, by whether classes are made and whether images are added.
    """

    source: Path
    title: str
    plan: LabelPlan
    on_disk: frozenset[str]
    counts: Mapping[tuple[bool, bool], int]

    @property
    def people(self) -> tuple[str, ...]:
        """Who gave the labels that would be taken over, those with the most first."""
        given = [label.who for label in self.plan.labels]
        return tuple(sorted(dict.fromkeys(given), key=lambda who: -given.count(who)))


def may_be_labels(path: Path) -> bool:
    """Whether a dropped file may hold labels, by its name."""
    return path.suffix.casefold() in DROPPED


def is_labels(path: Path) -> bool:
    """Whether a file holds labels; looks into it."""
    try:
        return path.is_file() and bool(detect(path))
    except (ProtoleafError, OSError):
        return False


def survey_labels(project_path: Path, source: Path) -> LabelSurvey:
    """Compare a source of labels with the project; nothing is changed.

    Raises:
        FormatError, StorageError: the source cannot be read.
    """
    format_name = _format_of(source)
    with Project.open(project_path, for_writing=False) as project:
        plan = plan_labels(project, source, format_name=format_name)
    on_disk = frozenset(images_on_disk(plan))
    both = (False, True)
    counts = {(classes, images): _count(plan, on_disk, classes, images) for classes in both for images in both}
    return LabelSurvey(source, READ_FORMATS[plan.format_name].title, plan, on_disk, counts)


def _format_of(source: Path) -> str:
    try:
        return detect(source)
    except FormatError:
        titles = [one.title for one in READ_FORMATS.values()]
        raise FormatError(
            f"{source.name} is in none of the formats that labels are read from",
            expected=f"one of {', '.join(titles)}",
            remedy="choose another file, or the folder around it",
        ) from None


def _count(plan: LabelPlan, on_disk: frozenset[str], adds_classes: bool, adds_images: bool) -> int:
    missing = set(plan.missing_images)
    come = set()
    for label in plan.waiting:
        waits_for_class, waits_for_image = label.names in plan.new_classes, label.image in missing
        gets_class = adds_classes or not waits_for_class
        gets_image = (adds_images and label.image in on_disk) or not waits_for_image
        if gets_class and gets_image and (waits_for_class or waits_for_image):
            come.add(label.image)
    return len(plan.labels) + len(come)
