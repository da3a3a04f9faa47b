"""Read files of taxonomies into memory, within limits; detect their formats."""

import os
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from engine.files import open_regular
from engine.interchange import limits
from engine.interchange.archives import opened_archive
from engine.interchange.text_file import (
    LOOKED_AT_BYTES,
    decoded,
    encoding_of,
    json_value,
    unreadable,
)
from engine.interchange.xml_files import Tree, root_of, xml_tree

PARTS_OF_LINE = 4


def taxonomy_bytes(source: Path) -> bytes:
    """Read a file up to the limit.

    Raises:
        StorageError: it cannot be read.
        FormatError: it is too large.
    """
    limit = limits.TAXONOMY_BYTES
    try:
        with open_regular(source) as file:
            limit.check(os.fstat(file.fileno()).st_size, source.name)
            data = file.read(limit.most + 1)
    except OSError as error:
        raise unreadable(source, error) from error
    limit.check(len(data), source.name)
    return data


def taxonomy_text(source: Path) -> str:
    """The text of a file; raises as `taxonomy_bytes` and `decoded`."""
    return decoded(taxonomy_bytes(source), source.name)


def taxonomy_lines(source: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines of a file from 1, without line ends; raises as `taxonomy_text`."""
    text = taxonomy_text(source)
    limits.TAXONOMY_PARTS.check(PARTS_OF_LINE * text.count("\n"), source.name)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    yield from enumerate(text.removeprefix("\ufeff").split("\n"), start=1)


def taxonomy_tree(source: Path) -> Tree:
    """The XML document of a file; raises as `taxonomy_bytes` and `xml_tree`."""
    data = taxonomy_bytes(source)
    limits.TAXONOMY_PARTS.check(data.count(b"<"), source.name)
    return xml_tree(data, source.name)


def taxonomy_json(source: Path) -> Any:
    """The value of a JSON file; raises as `taxonomy_text` and `json_value`."""
    return json_value(taxonomy_text(source), source.name, limits.TAXONOMY_PARTS)


@final
@dataclass(frozen=True)
class Opening:
    """The beginning of a file, for format detection."""

    source: Path  # the file
    text: str  # its first characters without leading blanks; "" for an archive
    members: tuple[str, ...] = ()  # of a ZIP archive; else ()

    @classmethod
    def of(cls, source: Path) -> "Opening":
        """Read the beginning of a file; StorageError if it cannot be read."""
        try:
            with open_regular(source) as file:
                head = file.read(LOOKED_AT_BYTES)
                members = _members(source) if head.startswith(b"PK") else ()
        except OSError as error:
            raise unreadable(source, error) from error
        return cls(
            source, "" if members else head.decode(encoding_of(head), "replace").lstrip(), members
        )

    @property
    def first_line(self) -> str:
        """The first line that is not blank."""
        return self.text.split("\n", 1)[0].strip()

    @property
    def xml_root(self) -> str:
        """The name of the outermost element; see `root_of`."""
        return root_of(self.text)

    def has(self, pattern: re.Pattern[str]) -> bool:
        return pattern.search(self.text) is not None


def _members(source: Path) -> tuple[str, ...]:
    try:
        with opened_archive(source) as archive:
            return tuple(archive.namelist())
    except (zipfile.BadZipFile, ValueError, RuntimeError):
        return ()
