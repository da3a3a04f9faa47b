"""Readers of WordNet: data.noun or data.verb, and ImageNet's hierarchy wordnet.is_a.txt.

A synset becomes a class with its first word as name, other words as synonyms and its gloss as note.
The source id, which is the key, is "n" with the synset's eight digits.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from engine.errors import FormatError
from engine.interchange.imported import (
    Edge,
    ImportedClass,
    ImportedGraph,
    attributes_at,
    clean_name_at,
    disambiguated,
)
from engine.interchange.taxonomy_file import Opening, taxonomy_lines
from engine.texts import Message, line_of

IS_A_FILE = "wordnet.is_a.txt"
WORDS_FILE = "words.txt"
IDS_IN_A_LINE = 2


def read_imagenet(source: Path) -> ImportedGraph:
    """Read ImageNet's file of edges ("parent child"), or its folder, with the file words.txt.

    Siblings of the same name get a suffix, "crane (n02012849)", by the whole hierarchy, so that a
    class has the same name in each imported part.
    """
    edges_file = source / IS_A_FILE if source.is_dir() else source
    edges = _imagenet_edges(edges_file)
    words = _words(edges_file.with_name(WORDS_FILE))
    keys = dict.fromkeys(key for edge in edges for key in edge)
    place = Message("an id in {file}", {"file": edges_file.name})
    names = {key: words[key][0] if key in words else clean_name_at(place, key) for key in keys}

    def class_of(key: str, name: str) -> ImportedClass:
        return ImportedClass(
            key, name, attributes_at(place, name, source_id=key, synonyms=words.get(key, ()))
        )

    return disambiguated(names, edges, edges_file.name, class_of)


def _imagenet_edges(source: Path) -> dict[Edge, None]:
    edges: dict[Edge, None] = {}
    for number, line in taxonomy_lines(source):
        ids = line.split()
        if not ids:
            continue
        if len(ids) != IDS_IN_A_LINE:
            raise FormatError(
                "line {number} of {source} is not an edge",
                expected="two ids, the parent's and the child's",
                found=f'"{line[:60]}"',
                number=number,
                source=source.name,
            )
        edges[ids[0], ids[1]] = None
    return edges


def _words(source: Path) -> dict[str, tuple[str, ...]]:
    words: dict[str, tuple[str, ...]] = {}
    for number, line in taxonomy_lines(source):
        if not line.strip():
            continue
        place = line_of(number, source.name)
        key, _, text = line.partition("\t")
        synset = [word for word in text.split(", ") if word.strip()]
        if not synset:
            raise FormatError(
                "{place} has no words",
                expected="an id, a tab, words",
                found=f'"{line[:60]}"',
                place=place,
            )
        words[key.strip()] = tuple(clean_name_at(place, word) for word in synset)
    return words


FILES = ("data.noun", "data.verb")
ABOVE = frozenset({"@", "@i"})
"""Pointers to hypernyms, and to those of instances ("Paris" to "city")."""
_SYNSET = re.compile(r"^(\d{8}) \d{2} ([nv]) ([0-9a-f]{2}) ", re.MULTILINE)
_STARTS = re.compile(rf"(?:\d+ .*\n(?:  .*\n)*)?{_SYNSET.pattern}", re.MULTILINE)
"""Beginning of a file, perhaps with the licence, whose first line is stripped."""
_LICENCE = "  "  # prefix of the lines of the licence
_GLOSS = " | "
_POINTER_FIELDS = 4
"""Of a pointer: its symbol, target synset, part of speech, and words."""


@dataclass(frozen=True)
class _Synset:
    key: str
    words: tuple[str, ...]
    above: tuple[str, ...]
    gloss: str
    line: int


def read(source: Path) -> ImportedGraph:
    """Read a file of synsets, or `data.noun` in a folder."""
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

    def class_of(key: str, name: str) -> ImportedClass:
        synset = synsets[key]
        place = line_of(synset.line, file.name)
        attributes = attributes_at(
            place, name, source_id=key, synonyms=synset.words, note=synset.gloss
        )
        return ImportedClass(key, name, attributes)

    names = {key: each.words[0] for key, each in synsets.items()}
    return disambiguated(names, _edges(synsets, file.name), file.name, class_of)


def fits(opening: Opening) -> bool:
    """Whether a file begins with synsets, or with the licence."""
    return _STARTS.match(opening.text) is not None


def _synset(line: str, number: int, source_name: str) -> _Synset:
    start, place = _SYNSET.match(line), line_of(number, source_name)
    if start is None:
        raise _no_synset(place, line)
    data, _, gloss = line.partition(_GLOSS)
    fields = data.split(" ")
    try:
        count = int(start[3], 16)
        words = [
            clean_name_at(place, word.replace("_", " ")) for word in fields[4 : 4 + 2 * count : 2]
        ]
        at = 4 + 2 * count
        pointers = fields[at + 1 : at + 1 + _POINTER_FIELDS * int(fields[at])]
    except (ValueError, IndexError) as error:
        raise _no_synset(place, line) from error
    if (
        not words
        or len(pointers) % _POINTER_FIELDS
        or len(pointers) < _POINTER_FIELDS * int(fields[at])
    ):
        raise _no_synset(place, line)
    above = [
        pointers[index + 2] + pointers[index + 1]
        for index in range(0, len(pointers), _POINTER_FIELDS)
        if pointers[index] in ABOVE
    ]
    return _Synset(start[2] + start[1], tuple(words), tuple(above), gloss.strip(), number)


def _no_synset(place: str, line: str) -> FormatError:
    return FormatError(
        "{place} is not a synset",
        expected="a line as in WordNet's data.noun",
        found=f'"{line.strip()[:60]}"',
        place=place,
    )


def _edges(synsets: dict[str, _Synset], source_name: str) -> dict[Edge, None]:
    edges: dict[Edge, None] = {}
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
