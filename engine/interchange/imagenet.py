"""Import of the hierarchy that ImageNet publishes: `wordnet.is_a.txt` ("parent child" ids) with `words.txt` beside it.

A synset becomes a class named by its first word; its other words are synonyms, its id is the source id.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Final

from engine.errors import FormatError
from engine.interchange.imported import ImportedClass, ImportedGraph, attributes_at, checked, clean_name_at
from engine.interchange.restrict import restricted
from engine.interchange.sibling_names import disambiguated
from engine.interchange.taxonomy_file import taxonomy_lines

IS_A_FILE: Final = "wordnet.is_a.txt"
WORDS_FILE: Final = "words.txt"
IDS_IN_A_LINE: Final = 2


def read(source: Path, *, under: str | None = None, only: Collection[str] = ()) -> ImportedGraph:
    """Read the hierarchy, or the part of it that a project needs.

    Siblings of one name get their id behind it, as in "crane (n02012849)". That is decided in the whole hierarchy, so
    a class has the same name in each part that is imported.

    Args:
        source: the file of edges, or the folder it is in.
        under: an id or a name: only that class and what is below it.
        only: ids or names: only these classes and what is above them.

    Returns:
        The classes; the key is the synset's id.

    Raises:
        StorageError: a file cannot be read.
        FormatError: a line is not of this form, or the edges close a cycle.
        UnknownClassError: `under` or `only` names no class.
        AmbiguousClassError: `under` or `only` names several.
    """
    edges_file = source / IS_A_FILE if source.is_dir() else source
    edges = _edges(edges_file)
    words = _words(edges_file.with_name(WORDS_FILE))
    keys = dict.fromkeys(key for edge in edges for key in edge)
    place = f"an id in {edges_file.name}"
    first_words = {key: words[key][0] if key in words else clean_name_at(place, key) for key in keys}
    classes = tuple(
        _class(key, name, words.get(key, ()), place) for key, name in disambiguated(first_words, edges, place).items()
    )
    return restricted(checked(ImportedGraph(classes, tuple(edges)), edges_file.name), under=under, only=only)


def _class(key: str, name: str, words: tuple[str, ...], place: str) -> ImportedClass:
    return ImportedClass(key, name, attributes_at(place, name, source_id=key, synonyms=words))


def _edges(source: Path) -> dict[tuple[str, str], None]:
    edges: dict[tuple[str, str], None] = {}
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
        place = f"line {number} of {source.name}"
        key, _, text = line.partition("\t")
        synset = [word for word in text.split(", ") if word.strip()]
        if not synset:
            raise FormatError(
                "{place} has no words", expected="an id, a tab, words", found=f'"{line[:60]}"', place=place
            )
        words[key.strip()] = tuple(clean_name_at(place, word) for word in synset)
    return words
