"""Labels of a file or folder in any format that is read."""

from collections.abc import Mapping
from pathlib import Path

from engine.errors import ProtoleafError, UsageError
from engine.images.photo_facts import photo_keywords
from engine.interchange.labelled_images.foreign_labels import ForeignLabels
from engine.interchange.labelled_images.formats import (
    AUTO,
    READ_FORMATS,
    detect,
    file_with_labels,
    format_named,
)
from engine.texts import Message

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
