"""What exports leave behind when they are broken off: each output whole under its name, or not there at all."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from engine.collection.importing.label_plan import read_labels
from engine.errors import FormatError, ProtoleafError
from engine.exporting.export import ExportChoice, Which, export_images
from engine.interchange.labelled_images.formats import FORMATS
from engine.project import Project
from tests.trust.children import Place
from tests.trust.outcome import Fault

EXPORTED: Final = tuple(FORMATS)
READABLE: Final = tuple(
    name for name, one in FORMATS.items() if one.is_read and not one.writes_into
)
"""Those whose outputs appear as one file or folder, from which every label can be counted."""


def target(place: Place, name: str) -> Path:
    """Where a format is written to."""
    return place.exports / f"{name}{FORMATS[name].suffix}"


def export_all(project: Project, folder: Path, names: Sequence[str] = READABLE) -> None:
    """Write a project's labels in formats from which they are read, by default in all."""
    folder.mkdir()
    for name in names:
        export_images(
            project,
            {},
            ExportChoice(name, folder / f"{name}{FORMATS[name].suffix}", Which.VERIFIED),
        )


def export_faults(place: Place) -> Iterator[Fault]:
    """What stands under the name of an export and is not whole: it holds other labels than one that is written now."""
    if not place.exports.is_dir():
        return
    whole = place.folder / "whole"
    with Project.open(place.project, for_writing=False) as project:
        written = [name for name in READABLE if target(place, name).exists()]
        export_all(project, whole, written)
    for name in written:
        try:
            expected, found = (_labelled(folder, name) for folder in (whole, place.exports))
        except ProtoleafError as error:
            yield Fault("other", f"half an export as {name}: {error}")
            continue
        if found != expected:
            yield Fault("other", f"an export as {name} with {found} of {expected} labels")


def _labelled(folder: Path, name: str) -> int:
    """Images with a label of a person in an export, which must be read without a problem."""
    _, found = read_labels(folder / f"{name}{FORMATS[name].suffix}", name)
    if found.problems:
        raise FormatError(found.problems[0])
    return len({(label.image, label.part) for label in found.labels if not label.is_machine})


def drafts(place: Place) -> list[str]:
    """Hidden files and folders that an export left; no promise after a kill, but after everything else."""
    if not place.exports.is_dir():
        return []
    return sorted(path.name for path in place.exports.rglob(".*"))
