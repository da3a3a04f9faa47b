"""`eml.xml` of a Darwin Core archive: what the data set is, in the Ecological Metadata Language as GBIF profiles it.

A collection knows its title, who labelled and which model answered. It does not know the licence, the place or whom to
write to: these are for the person to fill in before publishing.
"""

import uuid
from collections.abc import Iterable
from typing import Final

from lxml import etree

from engine.interchange.labelled_images.records import LabelledImages
from engine.interchange.xml_trees import Element, xml_text

_EML: Final = "https://eml.ecoinformatics.org/eml-2.2.0"
_LANGUAGE: Final = "eng"
"""Of the sentences below."""


def people(images: LabelledImages) -> list[str]:
    """Who labelled, each once, by name."""
    return sorted({image.label.who for image in images.images if image.label is not None and image.label.who})


def eml_xml(images: LabelledImages) -> bytes:
    """The metadata document."""
    root = etree.Element(
        f"{{{_EML}}}eml",
        nsmap={"eml": _EML},
        packageId=str(permanent_id(images.title)),
        system=images.program.split()[0],
        scope="system",
    )
    root.set("{http://www.w3.org/XML/1998/namespace}lang", _LANGUAGE)
    dataset = etree.SubElement(root, "dataset")
    _add(dataset, "title", images.title)
    names = people(images)
    for role in ("creator", "metadataProvider"):
        _add_parties(dataset, role, names, images.program)
    _add(dataset, "pubDate", images.made_at.date().isoformat())
    _add(dataset, "language", _LANGUAGE)
    for text in _sentences(images):
        _paragraph(dataset, "abstract", text)
    _paragraph(dataset, "intellectualRights", "Not stated yet: state the licence before you publish.")
    _add_parties(dataset, "contact", names, images.program)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True))


def permanent_id(*parts: str) -> uuid.UUID:
    """A number that is the same in each export: of the data set, or with an image's path, of an occurrence."""
    name = "\x00".join(parts).encode("utf-8", "surrogatepass").hex()
    return uuid.uuid5(uuid.NAMESPACE_OID, name)


def model_text(images: LabelledImages) -> str:
    """Which model answered, as the one that identified: "leafnet (ppn+), Protoleaf 1.0"."""
    setting = f" ({images.setting})" if images.setting else ""
    return f"{images.model}{setting}, {images.program}" if images.model else images.program


def _sentences(images: LabelledImages) -> Iterable[str]:
    verified = sum(image.is_verified and image.class_id is not None for image in images.images)
    answered = sum(not image.is_verified and image.class_id is not None for image in images.images)
    yield f"{verified + answered:,} images with their classes; {verified:,} were classified by people."
    if answered:
        yield f"{answered:,} were classified by a model ({model_text(images)}) and were verified by nobody."


def _add_parties(parent: Element, role: str, names: Iterable[str], program: str) -> None:
    for name in names:
        party = etree.SubElement(parent, role)
        _add(etree.SubElement(party, "individualName"), "surName", name)
    if not names:
        _add(etree.SubElement(parent, role), "organizationName", program)


def _paragraph(parent: Element, name: str, text: str) -> None:
    there = parent.find(name)
    _add(etree.SubElement(parent, name) if there is None else there, "para", text)


def _add(parent: Element, name: str, text: str) -> None:
    etree.SubElement(parent, name).text = xml_text(text) or "?"
