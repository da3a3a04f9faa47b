"""Reading the file that holds a taxonomy: whole, but never more of it than a taxonomy takes."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from engine.errors import FormatError, StorageError
from engine.interchange.text_file import decoded
from engine.interchange.xml_trees import Tree, xml_tree
from engine.regular_file import open_regular

LARGEST_TAXONOMY_BYTES: Final = 64 * 2**20
"""Of one file; WordNet's nouns take 15 MiB, the Gene Ontology 35, and a million short rows fit. Chosen."""

MOST_PARTS: Final = 4_000_000
"""Values, elements, or quarters of lines of one file; WordNet's nouns with their glosses are one million. Small parts
take many times their size while they are read. Chosen."""
_PARTS_OF_LINE: Final = 4
_BEFORE_VALUES: Final = ",[{"
"""Signs of JSON before a value."""


def taxonomy_bytes(source: Path) -> bytes:
    """What a file holds; of one that is too large, no more is read than it takes to tell.

    Raises:
        StorageError: it cannot be read.
        FormatError: it is too large.
    """
    try:
        with open_regular(source) as file:
            check_size(os.fstat(file.fileno()).st_size, source.name)
            data = file.read(LARGEST_TAXONOMY_BYTES + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageError('"{source}" cannot be read', found=reason, remedy="check the path", source=source) from error
    check_size(len(data), source.name)
    return data


def taxonomy_text(source: Path) -> str:
    """What a text file holds; see `engine.interchange.text_file.decoded`.

    Raises:
        StorageError: it cannot be read.
        FormatError: it is too large, or in another encoding.
    """
    return decoded(taxonomy_bytes(source), source.name)


def taxonomy_lines(source: Path) -> Iterator[tuple[int, str]]:
    """The lines of a text file with their numbers from 1, without line ends.

    Raises:
        StorageError: it cannot be read.
        FormatError: it is too large, has too many lines, or is in another encoding.
    """
    text = taxonomy_text(source)
    check_lines(text, source.name)
    for number, line in enumerate(text.split("\n"), start=1):
        yield number, line.removesuffix("\r")


def taxonomy_tree(source: Path) -> Tree:
    """Parse a file; see `engine.interchange.xml_trees.xml_tree`.

    Raises:
        StorageError: it cannot be read.
        FormatError: it is not well-formed, declares entities, or holds more elements than taxonomies do.
    """
    data = taxonomy_bytes(source)
    check_parts(data.count(b"<"), source.name)
    return xml_tree(data, source.name)


def json_document(text: str, name: str) -> Any:
    """The value of a JSON text.

    Args:
        text: of the file.
        name: of the file, for people.

    Raises:
        FormatError: it is not JSON, is nested too deeply, or holds more values than taxonomies do.
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
    """Refuse a text of more lines than taxonomies have; see `check_parts`."""
    check_parts(_PARTS_OF_LINE * text.count("\n"), name)


def check_parts(count: int, name: str) -> None:
    """Refuse what holds more than taxonomies do, before memory is full.

    Args:
        count: values, elements, or quarters of lines.
        name: of the file, for people.

    Raises:
        FormatError: there are too many.
    """
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
    """Refuse what is larger than taxonomies are.

    Args:
        size_bytes: of the file, unpacked.
        name: of the file, for people.

    Raises:
        FormatError: it is too large.
    """
    if size_bytes > LARGEST_TAXONOMY_BYTES:
        raise FormatError(
            "{name} is too large for a taxonomy",
            expected="at most {limit} MiB",
            found=f"{size_bytes // 2**20:,} MiB",
            remedy="take the part of it that you need",
            name=name,
            limit=LARGEST_TAXONOMY_BYTES // 2**20,
        )
