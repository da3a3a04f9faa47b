"""A whole JSON file that holds a taxonomy."""

import json
from typing import Any, Final

from engine.errors import FormatError
from engine.interchange.taxonomy_file import check_parts

_BEGINNINGS: Final = ",[{"
"""Signs before a value."""


def json_document(text: str, name: str) -> Any:
    """The value of a JSON text.

    Args:
        text: of the file.
        name: of the file, for people.

    Raises:
        FormatError: it is not JSON, is nested too deeply, or holds more values than taxonomies do.
    """
    check_parts(sum(map(text.count, _BEGINNINGS)), name)
    try:
        return json.loads(text)
    except RecursionError as error:
        raise FormatError(
            "{name} is nested too deeply", remedy="write it flat, with the parents of each class", name=name
        ) from error
    except ValueError as error:
        raise FormatError("{name} is not JSON", found=str(error), remedy="choose a JSON file", name=name) from error
