"""Reader of class lists with one name per line, such as labels.txt, classes.txt or obj.names.

Lines that are indented, or have more dashes or number signs, are children of the line above: lists
of Markdown and YAML, and the output of `tree`. Lines may also be paths with "/" or " > ".
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from engine.graph.names import SEPARATOR
from engine.interchange.imported import ImportedGraph
from engine.interchange.taxonomies.taxon_graph import Taxon, graph_of
from engine.interchange.taxonomy_file import Opening, taxonomy_lines
from engine.texts import line_of

_NUMBERED = re.compile(r"(\d+)(?:\s*[:,;\t]\s*|\s+)(?!- )(\S.*)")  # "0 Fox"
_NO_CLASSES = frozenset({"__ignore__", "_background_", "background", "__background__", "---", "."})
"""Lines of LabelMe and others that are not classes."""
_INDENTED = re.compile(r"([\s│├└─|`]*)([-*+•]+\s+|-+(?=[^\W\d_])|#+\s+)?(.*)")
"""Indentation, or lines of a tree; the sign of a list; the name."""
_END_OF_YAML = re.compile(r"\s*:(?:\s*(?:\[\]|\{\}|~|null))?$")
_YAML = frozenset({".yaml", ".yml"})
_ABOVE_ALL = -100  # depth of headings, less than that of other lines
_BETWEEN = (" > ", SEPARATOR)
_ID = re.compile(r"(\d+) - (.+)")  # of Google's product categories
_NO_NAME = re.compile(r"[{}<>\[\]]|[.,;:!?]$|[,;\t|=]")
"""Not part of names: characters of other formats, or the end of a sentence."""
_LONGEST = 100  # characters of a name; longer lines are prose. Chosen.


class _Line(NamedTuple):
    number: int
    depth: int  # indentation; more than that of its parent
    text: str


def read(source: Path) -> ImportedGraph:
    """Read the names in a file; see `read_lines`."""
    return read_lines(taxonomy_lines(source), source.name, suffix=source.suffix)


def read_lines(
    numbered: Iterable[tuple[int, str]], source_name: str, *, suffix: str = ""
) -> ImportedGraph:
    """Read the names in numbered lines; numbers in the text that count the lines are dropped."""
    lines = list(_lines(suffix, numbered))
    found = [_NUMBERED.fullmatch(each.text) for each in lines]
    numbers = [int(each[1]) for each in found if each]
    if numbers and numbers == list(range(numbers[0], numbers[0] + len(lines))):
        lines = [
            _Line(line.number, 0, each[2]) for line, each in zip(lines, found, strict=True) if each
        ]
    taxa = [
        Taxon(
            line_of(number, source_name),
            names[-1],
            above=tuple(("", each) for each in names[:-1]),
            values={"source_id": source_id},
        )
        for number, names, source_id in _paths(lines)
    ]
    return graph_of(taxa, source_name, [])


def _paths(lines: Sequence[_Line]) -> Iterator[tuple[int, tuple[str, ...], str]]:
    """Number of each line, its path from the top down, and its id."""
    separator = (
        "" if len({each.depth for each in lines}) > 1 else _separator([each.text for each in lines])
    )
    above: list[tuple[int, tuple[str, ...]]] = []
    for number, depth, text in lines:
        while above and above[-1][0] >= depth:
            above.pop()
        numbered = _ID.fullmatch(text) if separator else None
        name = numbered[2] if numbered else text
        own = tuple(each.strip() for each in name.split(separator)) if separator else (name,)
        names = (*above[-1][1], *own) if above else own
        above.append((depth, names))
        yield number, names, numbered[1] if numbered else ""


def _separator(texts: Sequence[str]) -> str:
    """Separator of paths, "" for none; with "/", lines without it must be parents of others."""
    for each in _BETWEEN:
        tops = {text.split(each)[0] for text in texts if each in text}
        if tops and (each != SEPARATOR or {text for text in texts if each not in text} <= tops):
            return each
    return ""


def fits(opening: Opening) -> bool:
    """Whether all of the first lines may be names."""
    texts = opening.text.splitlines()[:-1] or opening.text.splitlines()
    names = [
        _NUMBERED.sub(r"\2", each.text) for each in _lines(opening.source.suffix, enumerate(texts))
    ]
    if 2 * sum(_BETWEEN[0] in name for name in names) > len(names):
        return True
    is_yaml = opening.source.suffix.casefold() in _YAML
    return any(map(str.strip, texts)) and all(
        len(name) <= _LONGEST
        and name.isprintable()
        and not _NO_NAME.search(name)
        and not (is_yaml and ": " in name)
        for name in names
    )


def _lines(suffix: str, lines: Iterable[tuple[int, str]]) -> Iterator[_Line]:
    """Lines with names; number signs are comments unless there are headings of several levels."""
    held = [(number, _INDENTED.fullmatch(line.rstrip())) for number, line in lines]
    signs = [found[2].strip() for _, found in held if found and (found[2] or "").startswith("#")]
    has_headings = suffix.casefold() == ".md" or len(set(signs)) > 1
    for number, found in held:
        if found is None:
            continue
        before, sign, text = found[1], found[2] or "", found[3].strip()
        if suffix.casefold() in _YAML:
            text = _END_OF_YAML.sub("", text).strip("'\"")
        depth = len((before + sign).expandtabs())
        if sign.startswith("#"):
            depth = _ABOVE_ALL + len(sign.strip()) if has_headings else -1
        if text and text.casefold() not in _NO_CLASSES and depth != -1:
            yield _Line(number, depth, text)
