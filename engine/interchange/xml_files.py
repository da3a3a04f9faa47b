"""XML of other programs, read without entities, document types or network access; and text that XML can hold.

A document that declares entities or a type of its own is refused: no format that is read here needs that, and it is how
small files grow huge or make readers open others.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import IO, Any, Final
from xml.sax.saxutils import escape, quoteattr

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse
from lxml import etree

from engine.errors import FormatError
from engine.files import shown
from engine.interchange import limits

Element = Any  # an element of lxml, which ships no types
Tree = Any  # A document of lxml: its root with the comments and instructions around it

_REFUSED: Final = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
"""What XML 1.0 has no place for."""


def xml_tree(data: bytes, name: str) -> Tree:
    """Parse a document; comments, instructions and blanks stay where they are.

    Raises:
        FormatError: it is too large or has too many elements, is not well-formed, or declares a type or entities.
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
    """A text for an element of lxml: control characters, and what is no Unicode, become "?"."""
    return _REFUSED.sub("?", text)


_UNWRITABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def xml_content(text: str) -> str:
    r"""Text between tags; a character that XML cannot hold stands as `\x01`, and bytes of a file's name likewise."""
    return escape(writable(text), {"\r": "&#13;"})


def xml_attribute(text: str) -> str:
    """An attribute's value with its quotes."""
    return quoteattr(writable(text))


def elements(file: IO[bytes], name: str, *tags: str) -> Iterator[ET.Element]:
    """Each element with one of these tags as soon as it is whole; then it is dropped, so that memory stays small.

    None of the tags may lie within another.

    Raises:
        FormatError: it is no XML, declares entities, is nested too deep, or has a part that is too large.
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
    """A document that is read part by part, none of which is too large to be held."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file = file
        self._name = name
        self._read_bytes = 0

    def begin(self) -> None:
        """Begin the next part."""
        self._read_bytes = 0

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes of the document."""
        data = self._file.read(size)
        self._read_bytes += len(data)
        limits.XML_PART_BYTES.check(self._read_bytes, self._name)
        return data


_ROOT: Final = re.compile(r"<(?:[\w.-]+:)?([A-Za-z_][\w.-]*)[\s/>]")
"""The outermost element of an XML document: instructions and comments begin with another sign."""
_COMMENT: Final = re.compile(r"<!--.*?-->|<\?.*?\?>", re.DOTALL)


def root_of(text: str) -> str:
    """The name of the outermost element of a document, without its prefix; "" where the text is no XML."""
    found = _ROOT.search(_COMMENT.sub("", text)) if text.startswith("<") else None
    return found[1] if found else ""


def writable(text: str) -> str:
    """A text with what XML cannot hold as escapes."""
    return _UNWRITABLE.sub(lambda found: f"\\x{ord(found[0]):02x}", shown(text))
