"""What exports leave behind when they are broken off: each output whole under its name, or not there at all."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from engine.collection.exporting.export import ExportChoice, Which, export_images
from engine.collection.importing.import_labels import read_labels
from engine.errors import ProtoleafError
from engine.interchange.labelled_images.formats import FORMATS
from engine.project import Project
from tests.trust.children import Place
from tests.trust.outcome import Fault

EXPORTED: Final = tuple(FORMATS)
READABLE: Final = tuple(name for name, one in FORMATS.items() if one.is_read and not one.writes_into)
"""Those whose outputs appear as one file or folder, from which every label can be counted."""


def target(place: Place, name: str) -> Path:
    """Where a format is written to."""
    return place.exports / f"{name}{FORMATS[name].suffix}"


def export_all(project: Project, folder: Path) -> None:
    """Write a project's labels in every format from which they are read."""
    folder.mkdir()
    for name in READABLE:
        export_images(project, {}, ExportChoice(name, folder / f"{name}{FORMATS[name].suffix}", Which.VERIFIED))


def export_faults(place: Place) -> Iterator[Fault]:
    """What stands under the name of an export and is not whole: labels of the project are missing in it."""
    if not place.exports.is_dir():
        return
    with Project.open(place.project, for_writing=False) as project:
        labels = project.labels.by_image().values()
    whole = {len(labels), sum(label.class_id is not None for label in labels)}  # some have no place for "none of them"
    for name in READABLE:
        path = target(place, name)
        if not path.exists():
            continue
        try:
            _, found = read_labels(path, name)
        except ProtoleafError as error:
            yield Fault("other", f"half an export as {name}: {error}")
            continue
        images = {label.image for label in found.labels if not label.is_machine}
        if len(images) not in whole or found.problems:
            yield Fault(
                "other", f"an export as {name} with {len(images)} of {len(labels)} labels: {found.problems[:1]}"
            )


def drafts(place: Place) -> list[str]:
    """Hidden files and folders that an export left; no promise after a kill, but after everything else."""
    if not place.exports.is_dir():
        return []
    return sorted(path.name for path in place.exports.rglob(".*"))
