"""The plainest class list: a text with one name in each line, as `labels.txt`, `classes.txt` or `obj.names`."""

import re
from pathlib import Path
from typing import Final

from engine.errors import FormatError
from engine.interchange.imported import ImportedClass, ImportedGraph, checked, clean_name_at
from engine.interchange.left_out import LeftOutItem, LeftOutReason
from engine.interchange.taxonomy_file import Opening, taxonomy_lines
from engine.texts import line_of

_NUMBERED: Final = re.compile(r"(\d+)(?:\s*[:,;\t]\s*|\s+)(\S.*)")  # as Teachable Machine writes it: "0 Fox"
_NO_CLASSES: Final = frozenset({"__ignore__", "_background_", "background", "__background__"})
"""Lines of LabelMe and others that stand for no class."""
_NO_NAME: Final = re.compile(r"[{}<>\[\]]|[.,;:!?]$|[,;\t|=]")
"""What a name does not have: signs of other formats, or the end of a sentence."""
_LONGEST: Final = 100  # characters of a name; longer lines are prose. Chosen.


def read(source: Path) -> ImportedGraph:
    """Read the names; numbers that only count the lines are left out."""
    lines = [(number, line.strip()) for number, line in taxonomy_lines(source)]
    lines = [(number, text) for number, text in lines if text and text.casefold() not in _NO_CLASSES]
    found = [_NUMBERED.fullmatch(text) for _, text in lines]
    numbers = [int(each[1]) for each in found if each]
    if lines and numbers == list(range(numbers[0] if numbers else 0, len(lines) + (numbers[0] if numbers else 0))):
        lines = [(line, each[2]) for (line, _), each in zip(lines, found, strict=True) if each]
    names: dict[str, None] = {}
    left_out: list[LeftOutItem] = []
    for line, text in lines:
        place = line_of(line, source.name)
        try:
            name = clean_name_at(place, text)
        except FormatError:
            left_out.append(LeftOutItem(LeftOutReason.BAD_NAME, place))
            continue
        if name in names:
            left_out.append(LeftOutItem(LeftOutReason.REPEATED, f"{name} ({place})"))
        names[name] = None
    return checked((ImportedClass(name, name) for name in names), (), source.name, left_out)


def fits(opening: Opening) -> bool:
    """Whether each of the first lines may be a name."""
    lines = [line.strip() for line in opening.text.splitlines()[:-1] or opening.text.splitlines()]
    names = [_NUMBERED.sub(r"\2", line) for line in lines if line]
    return bool(names) and all(
        len(name) <= _LONGEST and name.isprintable() and not _NO_NAME.search(name) for name in names
    )
