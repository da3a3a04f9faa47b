"""Reading the file of a taxonomy: whole, but never more of it than a taxonomy takes."""

import json
import os
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

from engine.errors import FormatError
from engine.files import open_regular
from engine.interchange.archives import opened_archive
from engine.interchange.text_file import decoded, encoding_of, unreadable
from engine.interchange.xml_files import Tree, xml_tree

LARGEST_TAXONOMY_BYTES: Final = 64 * 2**20
"""Of one file; WordNet's nouns take 15 MiB, the Gene Ontology 35, and a million short rows fit. Chosen."""

MOST_PARTS: Final = 4_000_000
"""Values, elements, or quarters of lines of one file; WordNet's nouns with their glosses are one million. Small parts
take many times their size while they are read. Chosen."""
_PARTS_OF_LINE: Final = 4
_BEFORE_VALUES: Final = ",[{"  # signs of JSON before a value


def taxonomy_bytes(source: Path) -> bytes:
    """The bytes of a file, read no further than the limit.

    Raises:
        StorageError: it cannot be read.
        FormatError: it is too large.
    """
    try:
        with open_regular(source) as file:
            check_size(os.fstat(file.fileno()).st_size, source.name)
            data = file.read(LARGEST_TAXONOMY_BYTES + 1)
    except OSError as error:
        raise unreadable(source, error) from error
    check_size(len(data), source.name)
    return data


def taxonomy_text(source: Path) -> str:
    """The text of a file; raises as `taxonomy_bytes` and `decoded` do."""
    return decoded(taxonomy_bytes(source), source.name)


def taxonomy_lines(source: Path) -> Iterator[tuple[int, str]]:
    """The lines of a text file with their numbers from 1, without line ends; raises as `taxonomy_text` does."""
    text = taxonomy_text(source)
    check_lines(text, source.name)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    yield from enumerate(text.removeprefix("\ufeff").split("\n"), start=1)


def taxonomy_tree(source: Path) -> Tree:
    """The XML document of a file; raises as `taxonomy_bytes` and `xml_tree` do."""
    data = taxonomy_bytes(source)
    check_parts(data.count(b"<"), source.name)
    return xml_tree(data, source.name)


def json_document(text: str, name: str) -> Any:
    """The value of a JSON text.

    Raises:
        FormatError: it is not JSON, is nested too deeply, or has too many values for a taxonomy.
    """
    check_parts(sum(map(text.count, _BEFORE_VALUES)), name)
    try:
        return json.loads(text)
    except RecursionError as error:
        raise FormatError(
            "{name} is nested too deeply", remedy="write it flat, with the parents of each class", name=name
        ) from error
    except ValueError as error:
        raise FormatError("{name} is not JSON", found=str(error), remedy="choose a JSON file", name=name) from error


def check_lines(text: str, name: str) -> None:
    """Raise FormatError for a text of too many lines; see `check_parts`."""
    check_parts(_PARTS_OF_LINE * text.count("\n"), name)


def check_parts(count: int, name: str) -> None:
    """Raise FormatError for too many values, elements or quarters of lines, before memory is full."""
    if count > MOST_PARTS:
        raise FormatError(
            "{name} holds more than a taxonomy does",
            expected="at most {limit:,} values, elements or quarters of lines",
            found=f"{count:,}",
            remedy="take the part of it that you need",
            name=name,
            limit=MOST_PARTS,
        )


def check_size(size_bytes: int, name: str) -> None:
    """Raise FormatError for a file that is too large, unpacked."""
    if size_bytes > LARGEST_TAXONOMY_BYTES:
        raise FormatError(
            "{name} is too large for a taxonomy",
            expected="at most {limit} MiB",
            found=f"{size_bytes // 2**20:,} MiB",
            remedy="take the part of it that you need",
            name=name,
            limit=LARGEST_TAXONOMY_BYTES // 2**20,
        )


LOOKED_AT_BYTES: Final = 1 << 16
"""Of a file whose format is not known yet; licences of some kilobytes stand above the first word of some. Chosen."""
_ROOT: Final = re.compile(r"<(?:[\w.-]+:)?([A-Za-z_][\w.-]*)[\s/>]")
"""The outermost element of an XML document: instructions and comments begin with another sign."""
_COMMENT: Final = re.compile(r"<!--.*?-->|<\?.*?\?>", re.DOTALL)


@final
@dataclass(frozen=True)
class Opening:
    """The beginning of a file, by which its format is detected."""

    source: Path  # the file
    text: str  # its first characters, without blanks before them; "" for an archive
    members: tuple[str, ...] = ()  # the files of a zip archive; () for any other file

    @classmethod
    def of(cls, source: Path) -> "Opening":
        """Read the beginning of a file; StorageError where it cannot be read."""
        try:
            with open_regular(source) as file:
                head = file.read(LOOKED_AT_BYTES)
                members = _members(source) if head.startswith(b"PK") else ()
        except OSError as error:
            raise unreadable(source, error) from error
        return cls(source, "" if members else head.decode(encoding_of(head), "replace").lstrip(), members)

    @property
    def first_line(self) -> str:
        """The first line that is not blank."""
        return self.text.split("\n", 1)[0].strip()

    @property
    def xml_root(self) -> str:
        """The name of the outermost element, without its prefix; "" where the text is no XML."""
        if not self.text.startswith("<"):
            return ""
        found = _ROOT.search(_COMMENT.sub("", self.text))
        return found[1] if found else ""

    def has(self, pattern: re.Pattern[str]) -> bool:
        return pattern.search(self.text) is not None


def _members(source: Path) -> tuple[str, ...]:
    try:
        with opened_archive(source) as archive:
            return tuple(archive.namelist())
    except (zipfile.BadZipFile, ValueError, RuntimeError):
        return ()
