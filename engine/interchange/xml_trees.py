"""XML that somebody else's program wrote, read without what XML can do to a reader.

No entity is resolved, nothing is fetched, and a document that declares entities or a type of its own is refused: none
of the formats that we read needs that, and it is how small files grow huge or make readers open others.
"""

import re
from typing import Any, Final

from lxml import etree

from engine.errors import FormatError
from engine.interchange import limits

Element = Any
"""An element of lxml, which ships no types."""
Tree = Any
"""A document of lxml: its root with the comments and instructions around it."""

LARGEST_DOCUMENT_BYTES: Final = 64 * 2**20
"""Of one document; a photo's develop settings with hundreds of brush strokes take a few megabytes. Chosen."""
_REFUSED: Final = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
"""What XML 1.0 has no place for."""


def xml_tree(data: bytes, name: str) -> Tree:
    """Parse a document; comments, instructions and blanks stay where they are.

    Args:
        data: the file's bytes; the document says its encoding.
        name: of the file, for people.

    Raises:
        FormatError: it is too large or has too many elements, is not well-formed, or declares a type or entities.
    """
    if len(data) > LARGEST_DOCUMENT_BYTES:
        raise FormatError(
            "{name} is too large for such a file",
            expected="at most {limit} MiB",
            found=f"{len(data) // 2**20:,} MiB",
            name=name,
            limit=LARGEST_DOCUMENT_BYTES // 2**20,
        )
    limits.check_tags(data, name)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError, LookupError) as error:
        raise FormatError("{name} is not well-formed XML", found=str(error)[:200], name=name) from error
    tree = root.getroottree()
    if tree.docinfo.internalDTD is not None:
        raise FormatError(
            "{name} declares a document type", expected="plain XML without one", found="<!DOCTYPE ...>", name=name
        )
    return tree


def xml_text(text: str) -> str:
    """A text as XML can hold it: control characters, and what is no Unicode, become "?"."""
    return _REFUSED.sub("?", text)
