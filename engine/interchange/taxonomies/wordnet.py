"""Import of WordNet's own files: `data.noun` (or `data.verb`) as the database publishes them.

A synset becomes a class named by its first word; its other words are synonyms, its gloss is the note. The source id is
"n" with the synset's eight digits, as ImageNet writes it.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.errors import FormatError
from engine.interchange.imported import ImportedClass, ImportedGraph, attributes_at, checked, clean_name_at
from engine.interchange.sibling_names import disambiguated
from engine.interchange.taxonomies.opening import Opening
from engine.interchange.taxonomy_file import taxonomy_lines

FILES: Final = ("data.noun", "data.verb")
ABOVE: Final = frozenset({"@", "@i"})
"""Pointers to what is above: of a kind ("dog" to "canine"), and of a single thing ("Paris" to "city")."""
_SYNSET: Final = re.compile(r"^(\d{8}) \d{2} ([nv]) ([0-9a-f]{2}) ", re.MULTILINE)
_STARTS: Final = re.compile(rf"(?:\d+ .*\n(?:  .*\n)*)?{_SYNSET.pattern}", re.MULTILINE)
"""The licence may stand before, the blanks of its first line already taken away."""
_LICENCE: Final = "  "
"""Lines of the licence, at the top of each file, begin so."""
_GLOSS: Final = " | "
_POINTER_FIELDS: Final = 4
"""Of each pointer: its sign, the synset that it leads to, that one's part of speech, and between which words."""


@dataclass(frozen=True)
class _Synset:
    key: str
    words: tuple[str, ...]
    above: tuple[str, ...]
    gloss: str
    line: int


def read(source: Path) -> ImportedGraph:
    """Read a file of synsets.

    Args:
        source: the file, or the folder in which `data.noun` is.

    Returns:
        The classes; the key is the source id.

    Raises:
        StorageError: the file cannot be read.
        FormatError: a line is no synset, leads to none, or the synsets close a cycle.
    """
    file = source / FILES[0] if source.is_dir() else source
    synsets: dict[str, _Synset] = {}
    for number, line in taxonomy_lines(file):
        if line.startswith(_LICENCE) or not line.strip():
            continue
        synset = _synset(line, number, file.name)
        if synset.key in synsets:
            raise FormatError(
                "line {number} of {file} has the number of an earlier synset",
                found=synset.key,
                number=number,
                file=file.name,
            )
        synsets[synset.key] = synset
    edges = _edges(synsets, file.name)
    names = disambiguated({key: each.words[0] for key, each in synsets.items()}, edges, f"a synset in {file.name}")
    classes = tuple(_class(synset, names[synset.key], file.name) for synset in synsets.values())
    return checked(ImportedGraph(classes, tuple(edges)), file.name)


def fits(opening: Opening) -> bool:
    """Whether a file is of this format: synsets, below the licence if it is there."""
    return _STARTS.match(opening.text) is not None


def _synset(line: str, number: int, source_name: str) -> _Synset:
    start, place = _SYNSET.match(line), f"line {number} of {source_name}"
    if start is None:
        raise _no_synset(place, line)
    data, _, gloss = line.partition(_GLOSS)
    fields = data.split(" ")
    try:
        count = int(start[3], 16)
        words = [_word(word, place) for word in fields[4 : 4 + 2 * count : 2]]
        at = 4 + 2 * count
        pointers = fields[at + 1 : at + 1 + _POINTER_FIELDS * int(fields[at])]
    except (ValueError, IndexError) as error:
        raise _no_synset(place, line) from error
    if not words or len(pointers) % _POINTER_FIELDS or len(pointers) < _POINTER_FIELDS * int(fields[at]):
        raise _no_synset(place, line)
    above = [
        pointers[index + 2] + pointers[index + 1]
        for index in range(0, len(pointers), _POINTER_FIELDS)
        if pointers[index] in ABOVE
    ]
    return _Synset(start[2] + start[1], tuple(words), tuple(above), gloss.strip(), number)


def _word(word: str, place: str) -> str:
    return clean_name_at(place, word.replace("_", " "))


def _no_synset(place: str, line: str) -> FormatError:
    return FormatError(
        "{place} is no synset", expected="a line as in WordNet's data.noun", found=f'"{line.strip()[:60]}"', place=place
    )


def _edges(synsets: dict[str, _Synset], source_name: str) -> dict[tuple[str, str], None]:
    edges: dict[tuple[str, str], None] = {}
    for synset in synsets.values():
        for parent in synset.above:
            if parent not in synsets:
                raise FormatError(
                    "line {line} of {source_name} leads to a synset that is not there",
                    found=parent,
                    remedy="choose the whole file",
                    line=synset.line,
                    source_name=source_name,
                )
            edges[parent, synset.key] = None
    return edges


def _class(synset: _Synset, name: str, source_name: str) -> ImportedClass:
    place = f"line {synset.line} of {source_name}"
    attributes = attributes_at(place, name, source_id=synset.key, synonyms=synset.words, note=synset.gloss)
    return ImportedClass(synset.key, name, attributes)
