"""Text as XML 1.0 can hold it, and reading XML that somebody else's program wrote."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape, quoteattr

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from engine.errors import FormatError
from engine.files import shown

_REFUSED: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def xml_text(text: str) -> str:
    r"""Text between tags; a character that XML cannot hold stands as `\x01`, and bytes of a file's name likewise."""
    return escape(_storable(text), {"\r": "&#13;"})


def xml_attribute(text: str) -> str:
    """An attribute's value with its quotes."""
    return quoteattr(_storable(text))


def elements(file: BinaryIO, name: str, *tags: str) -> Iterator[Element]:
    """Each element with one of these tags as soon as it is whole; then it is forgotten, so that memory stays small.

    Args:
        file: open for reading.
        name: of the file, for errors.
        tags: that are asked for; none of them within another.

    Raises:
        FormatError: it is no XML, or declares entities.
    """
    try:
        parents: list[Element] = []
        for event, element in iterparse(file, events=("start", "end"), forbid_dtd=True):
            if event == "start":
                parents.append(element)
                continue
            parents.pop()
            if element.tag in tags:
                yield element
                if parents:
                    parents[-1].remove(element)
    except (ParseError, DefusedXmlException, LookupError, ValueError) as error:
        raise FormatError(
            f"{name} is no XML file that can be read", found=str(error)[:200] or "a forbidden part"
        ) from error


def first_tag(source: Path) -> str:
    """The tag of the outermost element of a file; "" where there is none."""
    try:
        with source.open("rb") as file:
            for _, element in iterparse(file, events=("start",), forbid_dtd=True):
                return str(element.tag)
    except (ParseError, DefusedXmlException, LookupError, ValueError, OSError):
        pass
    return ""


def _storable(text: str) -> str:
    return _REFUSED.sub(lambda found: f"\\x{ord(found[0]):02x}", shown(text))
