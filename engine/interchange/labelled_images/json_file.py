"""A whole JSON file that somebody else's program wrote: the shape it must have, and whose it is by its beginning."""

import json
import re
from pathlib import Path
from typing import Any, Final

from engine.errors import FormatError
from engine.interchange import limits
from engine.interchange.text_file import read_text
from engine.regular_file import open_regular

_LOOKED_AT_BYTES: Final = 1 << 16
"""At the beginning of a file, to tell its format; chosen."""


def read_json(source: Path) -> Any:
    """The value of a JSON file.

    Raises:
        StorageError: it cannot be read.
        FormatError: it is no JSON, too large to be held, or nested too deep.
    """
    text = read_text(source, at_most=limits.LARGEST_JSON_BYTES)
    limits.check_json(text, source.name)
    try:
        return json.loads(text)
    except RecursionError as error:
        raise FormatError("{source} is nested too deep", remedy="choose another file", source=source.name) from error
    except ValueError as error:
        raise FormatError("{source} is no JSON file", found=str(error)[:200], source=source.name) from error


def objects_in(value: Any, name: str) -> list[dict[str, Any]]:
    """The objects of a list within an object; [] where there is no such list, and what is no object is passed over."""
    found = value.get(name) if isinstance(value, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def object_in(value: dict[str, Any], name: str) -> dict[str, Any]:
    """An object within an object; {} where there is none."""
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def begins_with(source: Path, opening: str, *names: str) -> bool:
    """Whether a `.json` file begins with a bracket, and one of these names of fields stands near its beginning."""
    if not source.is_file() or source.suffix.casefold() != ".json":
        return False
    try:
        with open_regular(source) as file:
            head = file.read(_LOOKED_AT_BYTES).decode("utf-8-sig", "replace").lstrip()
    except OSError:
        return False
    return head.startswith(opening) and any(re.search(rf'"{re.escape(name)}"\s*:', head) for name in names)
