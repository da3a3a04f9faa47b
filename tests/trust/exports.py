"""Interrupted exports: each output is complete, or missing."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from engine.collection.importing.label_plan import read_labels
from engine.errors import FormatError, ProtoleafError
from engine.exporting.export import ExportChoice, Which, export_images
from engine.interchange.labelled_images.formats import FORMATS
from engine.project import Project
from tests.trust.children import Place
from tests.trust.outcome import Fault

EXPORTED = tuple(FORMATS)
READABLE = tuple(name for name, one in FORMATS.items() if one.is_read and not one.writes_into)
"""Formats of one file or folder from which every label can be read."""


def target(place: Place, name: str) -> Path:
    """The output path of a format."""
    return place.exports / f"{name}{FORMATS[name].suffix}"


def export_all(project: Project, folder: Path, names: Sequence[str] = READABLE) -> None:
    """Export a project's labels in all or given readable formats."""
    folder.mkdir()
    for name in names:
        export_images(
            project,
            {},
            ExportChoice(name, folder / f"{name}{FORMATS[name].suffix}", Which.VERIFIED),
        )


def export_faults(place: Place) -> Iterator[Fault]:
    """Incomplete exports: their labels differ from a new export's."""
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
    """Images labelled by a person in an export, which must be read without problems."""
    _, found = read_labels(folder / f"{name}{FORMATS[name].suffix}", name)
    if found.problems:
        raise FormatError(found.problems[0])
    return len({(label.image, label.part) for label in found.labels if not label.is_machine})


def drafts(place: Place) -> list[str]:
    """Hidden files left by an export; permitted after a kill only."""
    if not place.exports.is_dir():
        return []
    return sorted(path.name for path in place.exports.rglob(".*"))
