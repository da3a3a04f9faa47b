"""The plainest class lists: a text with one name in each line, as `labels.txt`, `classes.txt` or `obj.names`.

What is indented, or has more dashes or number signs before it, lies below the line above: lists of Markdown and YAML,
and folders as `tree` prints them. Lines may also be paths, with "/" or " > " between the names.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from engine.graph.names import SEPARATOR
from engine.interchange.imported import ImportedGraph
from engine.interchange.taxonomies.taxon_graph import Taxon, graph_of
from engine.interchange.taxonomy_file import Opening, taxonomy_lines
from engine.texts import line_of

_NUMBERED: Final = re.compile(
    r"(\d+)(?:\s*[:,;\t]\s*|\s+)(?!- )(\S.*)"
)  # as Teachable Machine writes it: "0 Fox"
_NO_CLASSES: Final = frozenset(
    {"__ignore__", "_background_", "background", "__background__", "---", "."}
)
"""Lines of LabelMe and others that stand for no class."""
_INDENTED: Final = re.compile(r"([\s│├└─|`]*)([-*+•]+\s+|-+(?=[^\W\d_])|#+\s+)?(.*)")
"""What stands before a name, in the drawing of a tree too, a sign of a list, and the name."""
_END_OF_YAML: Final = re.compile(r"\s*:(?:\s*(?:\[\]|\{\}|~|null))?$")
_YAML: Final = frozenset({".yaml", ".yml"})
_ABOVE_ALL: Final = -100  # depth of what is below headings is more
_BETWEEN: Final = (" > ", SEPARATOR)
_ID: Final = re.compile(r"(\d+) - (.+)")  # as Google numbers its categories
_NO_NAME: Final = re.compile(r"[{}<>\[\]]|[.,;:!?]$|[,;\t|=]")
"""What a name does not have: signs of other formats, or the end of a sentence."""
_LONGEST: Final = 100  # characters of a name; longer lines are prose. Chosen.


class _Line(NamedTuple):
    number: int
    depth: int  # of one that lies below another it is more
    text: str


def read(source: Path) -> ImportedGraph:
    """Read the names in a file; see `read_lines`."""
    return read_lines(taxonomy_lines(source), source.name, suffix=source.suffix)


def read_lines(
    numbered: Iterable[tuple[int, str]], source_name: str, *, suffix: str = ""
) -> ImportedGraph:
    """Read the names in lines with their numbers; numbers that only count the lines are left out."""
    lines = list(_lines(suffix, numbered))
    found = [_NUMBERED.fullmatch(each.text) for each in lines]
    numbers = [int(each[1]) for each in found if each]
    if lines and numbers == list(
        range(numbers[0] if numbers else 0, len(lines) + (numbers[0] if numbers else 0))
    ):
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
    """Number of each line, the names from the top down, and an id."""
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
    """What stands between the names of paths; "" where lines are none: one without "/" must begin another."""
    for each in _BETWEEN:
        tops = {text.split(each)[0] for text in texts if each in text}
        if tops and (each != SEPARATOR or {text for text in texts if each not in text} <= tops):
            return each
    return ""


def fits(opening: Opening) -> bool:
    """Whether each of the first lines may be a name."""
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
    """The lines that name something; number signs are comments unless there are headings of several levels."""
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
