"""Read untrusted XML without entities, document types and network access; write valid text.

Documents with entities or a document type are refused: no format needs them, and they are used to
exhaust memory or to read other files.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import IO, Any
from xml.sax.saxutils import escape, quoteattr

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse
from lxml import etree

from engine.errors import FormatError
from engine.files import shown
from engine.interchange import limits

Element = Any  # an element of lxml, which ships no types
Tree = Any  # a document of lxml: its root with the comments and instructions around it

_REFUSED = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
"""Characters that XML 1.0 forbids."""


def xml_tree(data: bytes, name: str) -> Tree:
    """Parse a document, preserving comments, instructions and blanks.

    Raises:
        FormatError: it exceeds a limit, is not well-formed, or has a document type or entities.
    """
    limits.DOCUMENT_BYTES.check(len(data), name)
    limits.XML_TAGS.check(data.count(b"<"), name)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError, LookupError) as error:
        raise FormatError(
            "{name} is not well-formed XML", found=str(error)[:200], name=name
        ) from error
    tree = root.getroottree()
    if tree.docinfo.internalDTD is not None:
        raise FormatError(
            "{name} declares a document type",
            expected="plain XML without one",
            found="<!DOCTYPE ...>",
            name=name,
        )
    return tree


def xml_text(text: str) -> str:
    """A text for lxml: control characters and invalid Unicode become "?"."""
    return _REFUSED.sub("?", text)


_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def xml_content(text: str) -> str:
    r"""Escaped text between tags; forbidden characters and bytes of file names become `\x01`."""
    return escape(writable(text), {"\r": "&#13;"})


def xml_attribute(text: str) -> str:
    """A quoted value of an attribute."""
    return quoteattr(writable(text))


def elements(file: IO[bytes], name: str, *tags: str) -> Iterator[ET.Element]:
    """Stream the elements with given tags, which are not nested in each other.

    Each is complete when yielded, and freed afterwards.

    Raises:
        FormatError: it is not XML, has entities, or exceeds a limit.
    """
    part = _Part(file, name)
    kept = 0
    try:
        parents: list[ET.Element] = []
        for event, element in iterparse(part, events=("start", "end"), forbid_dtd=True):
            if event == "start":
                parents.append(element)
                kept += element.tag in tags
                limits.XML_DEPTH.check(len(parents), name)
                continue
            parents.pop()
            if element.tag in tags:
                yield element
                kept -= 1
            if parents and not kept:
                parents[-1].remove(element)
                part.begin()
    except (ET.ParseError, DefusedXmlException, LookupError, ValueError) as error:
        raise FormatError(
            "{name} is not an XML file that can be read",
            found=str(error)[:200] or "a forbidden part",
            name=name,
        ) from error


class _Part:
    """A stream that checks the size of each part of a document."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file = file
        self._name = name
        self._read_bytes = 0

    def begin(self) -> None:
        """Begin the next part."""
        self._read_bytes = 0

    def read(self, size: int = -1) -> bytes:
        """Read at most `size` bytes."""
        data = self._file.read(size)
        self._read_bytes += len(data)
        limits.XML_PART_BYTES.check(self._read_bytes, self._name)
        return data


_ROOT = re.compile(r"<(?:[\w.-]+:)?([A-Za-z_][\w.-]*)[\s/>]")
"""The root element of an XML document."""
_COMMENT = re.compile(r"<!--.*?-->|<\?.*?\?>", re.DOTALL)


def root_of(text: str) -> str:
    """The name of the root element, without its prefix; "" if the text is not XML."""
    found = _ROOT.search(_COMMENT.sub("", text)) if text.startswith("<") else None
    return found[1] if found else ""


def writable(text: str) -> str:
    """A text with escapes for characters that XML forbids."""
    return _UNWRITABLE.sub(lambda found: f"\\x{ord(found[0]):02x}", shown(text))
