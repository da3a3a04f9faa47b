"""Names of a detector's categories, from its metadata or from a text file."""

import ast
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.errors import GraphError, InputError
from engine.graph.names import clean_name
from engine.interchange.text_file import read_text

NAMES_KEY = "names"  # of the metadata, as Ultralytics' exports have it
MOST_CATEGORIES = 30_000
"""Chosen: above the largest list of classes of a published detector."""
_LONGEST = 1_000_000  # characters of the names in metadata
_MOST_BYTES = 10_000_000  # of a file of names
_NO_NAMES = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError)
"""Errors for a text that is not a list of names; the last two for deeply nested texts."""


def names_in(notes: Mapping[str, str]) -> tuple[str, ...]:
    """Names in a file's metadata, by number; empty without any, or in another form.

    Ultralytics writes a literal of Python, `{0: 'animal', 1: 'person'}`, others JSON.
    """
    text = notes.get(NAMES_KEY, "").strip()
    if not text or len(text) > _LONGEST:
        return ()
    for parse in (json.loads, ast.literal_eval):
        try:
            return _listed(parse(text))
        except _NO_NAMES:
            continue
    return ()


def _listed(value: Any) -> tuple[str, ...]:
    """Names by number; raises `ValueError` or `TypeError` for other values."""
    names = {
        int(number): name
        for number, name in (value.items() if isinstance(value, dict) else enumerate(value))
    }
    if not names or len(names) > MOST_CATEGORIES or set(names) != set(range(len(names))):
        raise ValueError("the numbers of names have gaps")
    return tuple(_clean(names[number], number) for number in range(len(names)))


def _clean(name: Any, number: int) -> str:
    try:
        return clean_name(str(name))
    except GraphError:
        return number_name(number)


def number_name(number: int) -> str:
    """Name of a category that has none."""
    return f"class {number}"


def read_names(path: Path) -> tuple[str, ...]:
    """Names of a text file, one a line, the first of category 0.

    Raises:
        InputError: it cannot be read, holds no names, or too many.
        GraphError: a line is not a name.
    """
    lines = read_text(path, at_most=_MOST_BYTES).rstrip().splitlines()
    if not 0 < len(lines) <= MOST_CATEGORIES:
        raise InputError(
            "this is not a list of a detector's categories",
            expected="one name a line, at most {most:,}",
            found="{count:,} lines in {file}",
            most=MOST_CATEGORIES,
            count=len(lines),
            file=path.name,
        )
    return tuple(clean_name(line) for line in lines)
