"""Text as XML 1.0 can hold it, and reading XML that somebody else's program wrote."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape, quoteattr

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from engine.errors import FormatError
from engine.files import shown
from engine.interchange import limits
from engine.regular_file import open_regular

_REFUSED: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def xml_text(text: str) -> str:
    r"""Text between tags; a character that XML cannot hold stands as `\x01`, and bytes of a file's name likewise."""
    return escape(_storable(text), {"\r": "&#13;"})


def xml_attribute(text: str) -> str:
    """An attribute's value with its quotes."""
    return quoteattr(_storable(text))


def elements(file: IO[bytes], name: str, *tags: str) -> Iterator[Element]:
    """Each element with one of these tags as soon as it is whole; then it is forgotten, so that memory stays small.

    Args:
        file: open for reading.
        name: of the file, for errors.
        tags: that are asked for; none of them within another.

    Raises:
        FormatError: it is no XML, declares entities, is nested too deep, or has a part that is too large.
    """
    part = _Part(file, name)
    kept = 0
    try:
        parents: list[Element] = []
        for event, element in iterparse(part, events=("start", "end"), forbid_dtd=True):
            if event == "start":
                parents.append(element)
                kept += element.tag in tags
                _check_depth(len(parents), name)
                continue
            parents.pop()
            if element.tag in tags:
                yield element
                kept -= 1
            if parents and not kept:
                parents[-1].remove(element)
                part.begin()
    except (ParseError, DefusedXmlException, LookupError, ValueError) as error:
        raise FormatError(
            "{name} is no XML file that can be read", found=str(error)[:200] or "a forbidden part", name=name
        ) from error


class _Part:
    """A document that is read part by part, none of which is too large to be held."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file = file
        self._name = name
        self._read_bytes = 0

    def begin(self) -> None:
        """A part is whole, and forgotten."""
        self._read_bytes = 0

    def read(self, size: int = -1) -> bytes:
        """As much of the document."""
        data = self._file.read(size)
        self._read_bytes += len(data)
        if self._read_bytes > limits.LARGEST_PART_BYTES:
            raise FormatError(
                "a part of {name} is too large",
                expected="at most {limit} MiB for one image with what is said of it",
                name=self._name,
                limit=limits.LARGEST_PART_BYTES // 2**20,
            )
        return data


def _check_depth(depth: int, name: str) -> None:
    if depth > limits.DEEPEST_XML:
        raise FormatError(
            "{name} is nested too deep", expected="at most {limit} levels", name=name, limit=limits.DEEPEST_XML
        )


def first_tag(source: Path) -> str:
    """The tag of the outermost element of a file; "" where there is none."""
    try:
        with open_regular(source) as file:
            for _, element in iterparse(_Part(file, source.name), events=("start",), forbid_dtd=True):
                return str(element.tag)
    except (ParseError, DefusedXmlException, LookupError, ValueError, OSError, FormatError):
        pass
    return ""


def _storable(text: str) -> str:
    return _REFUSED.sub(lambda found: f"\\x{ord(found[0]):02x}", shown(text))
