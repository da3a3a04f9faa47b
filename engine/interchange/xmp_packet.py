"""XMP packets: metadata of a photo, embedded or in a sidecar (ISO 16684-1).

Only given properties are changed: everything else, with comments and instructions, is preserved.
"""

import codecs
from collections.abc import Collection, Iterator, Sequence
from typing import final

from lxml import etree

from engine.errors import FormatError
from engine.files import utf8_packet
from engine.interchange.xml_files import Element, Tree, xml_text, xml_tree

RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_META = "{adobe:ns:meta/}"
_PREFIXES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "dc": "http://purl.org/dc/elements/1.1/",
    "xmp": "http://ns.adobe.com/xap/1.0/",
    "lr": "http://ns.adobe.com/lightroom/1.0/",
    "digiKam": "http://www.digikam.org/ns/1.0/",
    "photoshop": "http://ns.adobe.com/photoshop/1.0/",
    "MicrosoftPhoto": "http://ns.microsoft.com/photo/1.0/",
    "mediapro": "http://ns.iview-multimedia.com/mediapro/1.0/",
    "protoleaf": "https://github.com/protoleaf/protoleaf/xmp/1.0/",
}
"""Namespaces by their usual prefixes."""
_ABOUT = f"{RDF}about"
_DECLARATIONS = (b"<?xml ", codecs.BOM_UTF8 + b"<?xml ")
_WRITTEN_PREFIXES = {
    prefix: _PREFIXES[prefix] for prefix in ("dc", "xmp", "lr", "digiKam", "protoleaf")
}
_CONTAINERS = frozenset(f"{RDF}{name}" for name in ("Bag", "Seq", "Alt"))


def property_name(short: str) -> str:
    """The XML name of a property, such as "dc:subject"."""
    prefix, name = short.split(":")
    return f"{{{_PREFIXES[prefix]}}}{name}"


@final
class XmpPacket:
    """A packet in memory; `is_declared` if it begins with an XML declaration."""

    def __init__(self, tree: Tree, *, is_declared: bool = True) -> None:
        self._tree = tree
        self._rdf = _rdf_in(tree)
        self._is_declared = is_declared

    @staticmethod
    def parse(data: bytes, name: str) -> "XmpPacket":
        """Parse a packet with or without its wrapper; FormatError if it is invalid."""
        tree = xml_tree(utf8_packet(data), name)
        if _rdf_in(tree) is None:
            raise FormatError(
                "{name} contains no XMP",
                expected="rdf:RDF",
                found=str(tree.getroot().tag)[:200],
                name=name,
            )
        return XmpPacket(tree, is_declared=data.startswith(_DECLARATIONS))

    @staticmethod
    def empty(program: str) -> "XmpPacket":
        """A packet without properties."""
        root = etree.Element(f"{_META}xmpmeta", nsmap={"x": _META[1:-1]})
        root.set(f"{_META}xmptk", program)
        etree.SubElement(root, f"{RDF}RDF", nsmap={"rdf": RDF[1:-1]})
        return XmpPacket(root.getroottree())

    def texts(self, name: str) -> list[str]:
        """The texts of a property."""
        found: list[str] = []
        for description in self._descriptions():
            if (value := description.get(name)) is not None:
                found.append(value)
            for element in description.findall(name):
                found += _texts(element)
        return found

    def values(self, namespace: str) -> dict[str, list[str]]:
        """The texts of all properties of a namespace, by XML name."""
        start = f"{{{namespace}}}"
        found: dict[str, list[str]] = {}
        for description in self._descriptions():
            for name, value in description.attrib.items():
                if name.startswith(start):
                    found.setdefault(name, []).append(value)
            for child in description.iterchildren(f"{start}*"):
                found.setdefault(child.tag, []).extend(_texts(child))
        return found

    def exchange(
        self, name: str, removed: Collection[str], added: Sequence[str], *, container: str = "Bag"
    ) -> None:
        """Remove texts from a list and append others; an empty list is removed.

        Args:
            name: of the property.
            removed: texts.
            added: texts.
            container: of a new list: "Bag" or "Seq".
        """
        lists = [
            element for description in self._descriptions() for element in description.findall(name)
        ]
        for element in lists:
            items = element.find("*")
            for item in [] if items is None else items.findall(f"{RDF}li"):
                if _item_text(item) in removed:
                    _remove(item)
            if not _texts(element) and not (added and element is lists[0]):
                _remove(element)
        if not added:
            return
        if lists and (items := lists[0].find("*")) is not None and items.tag in _CONTAINERS:
            for text in added:
                etree.SubElement(items, f"{RDF}li").text = xml_text(text)
            return
        self._add_list(name, added, container)

    def put(self, name: str, value: str | Sequence[str]) -> None:
        """Set a property to a text or a list of texts; an empty value removes it."""
        for description in self._descriptions():
            description.attrib.pop(name, None)
            for element in description.findall(name):
                _remove(element)
        if not value:
            return
        if isinstance(value, str):
            etree.SubElement(self._own_description(), name).text = xml_text(value)
        else:
            self._add_list(name, value, "Bag")

    def data(self) -> bytes:
        """Serialize the packet."""
        for description in list(self._descriptions()):
            if not len(description) and set(description.attrib) <= {_ABOUT}:
                _remove(description)
            elif "protoleaf" in description.nsmap:
                etree.indent(description, " ", level=2)
        return bytes(
            etree.tostring(self._tree, xml_declaration=self._is_declared, encoding="UTF-8")
        )

    def _add_list(self, name: str, texts: Sequence[str], container: str) -> None:
        items = etree.SubElement(
            etree.SubElement(self._own_description(), name), f"{RDF}{container}"
        )
        for text in texts:
            etree.SubElement(items, f"{RDF}li").text = xml_text(text)

    def _own_description(self) -> Element:
        """The rdf:Description for new properties: an existing one of ours, or a new one."""
        own = f"{{{_PREFIXES['protoleaf']}}}"
        descriptions = list(self._descriptions())
        for description in descriptions:
            if "protoleaf" in description.nsmap or any(
                str(child.tag).startswith(own) for child in description
            ):
                return description
        about = next((each.get(_ABOUT) for each in descriptions), None) or ""
        home = etree.SubElement(self._rdf, f"{RDF}Description", nsmap=_WRITTEN_PREFIXES)
        home.set(_ABOUT, about)
        return home

    def _descriptions(self) -> Iterator[Element]:
        yield from self._rdf.iterchildren(f"{RDF}Description")


def _rdf_in(tree: Tree) -> Element:
    root = tree.getroot()
    return root if root.tag == f"{RDF}RDF" else root.find(f"{RDF}RDF")


def _texts(element: Element) -> list[str]:
    items = element.find("*")
    if items is not None and items.tag in _CONTAINERS:
        return [text for item in items.findall(f"{RDF}li") if (text := _item_text(item))]
    text = _item_text(element)
    return [text] if text else []


def _item_text(item: Element) -> str:
    """The text of an item, of a qualified one in rdf:value."""
    return str(item.findtext(f"{RDF}value") or item.text or "").strip()


def _remove(element: Element) -> None:
    """Remove an element, but not the text after it."""
    parent = element.getparent()
    if element.tail and element.tail.strip():
        before = element.getprevious()
        if before is None:
            parent.text = (parent.text or "") + element.tail
        else:
            before.tail = (before.tail or "") + element.tail
    parent.remove(element)
