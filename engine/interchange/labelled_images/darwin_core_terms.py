"""The tables of a Darwin Core archive: which column has which term, and `meta.xml`, which says so.

The terms are those of the standard's core "Occurrence" and of GBIF's extensions "Simple Multimedia" and
"Identification History".
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from lxml import etree

from engine.errors import FormatError
from engine.interchange.file_within import checked_name
from engine.interchange.xml_trees import Element, xml_tree

DARWIN_CORE: Final = "http://rs.tdwg.org/dwc/terms/"
DUBLIN_CORE: Final = "http://purl.org/dc/terms/"
OCCURRENCE: Final = DARWIN_CORE + "Occurrence"
MULTIMEDIA: Final = "http://rs.gbif.org/terms/1.0/Multimedia"
AUDUBON: Final = "http://rs.tdwg.org/ac/terms/"
MEDIA_TYPES: Final = frozenset({MULTIMEDIA, f"{AUDUBON}Multimedia", "http://rs.gbif.org/terms/1.0/Image"})
"""Kinds of rows that tell where an occurrence's images are."""
MEDIA_PLACES: Final = (f"{AUDUBON}accessURI", f"{DUBLIN_CORE}identifier", f"{DUBLIN_CORE}references")
"""Where an image is: the first of these that is there; in Audubon Core `identifier` is only a name."""
IDENTIFICATION: Final = DARWIN_CORE + "Identification"
META: Final = "meta.xml"
EML: Final = "eml.xml"
_TEXT: Final = "{http://rs.tdwg.org/dwc/text/}"
_ESCAPES: Final = {"\\t": "\t", "\\n": "\n", "\\r": "\r"}


@dataclass(frozen=True)
class Table:
    """A table of an archive."""

    row_type: str  # what a row is, as a term
    file: str  # its name in the archive
    columns: Mapping[int, str]
    """Term of each column, by its number; the first column is the occurrence's id where it has no term."""
    separator: str = ","  # between cells
    quote: str = '"'  # around them; "" for none
    header_lines: int = 1  # to be passed over
    encoding: str = "UTF-8"  # of its text
    id_index: int = 0  # number of the column with the occurrence's id, by which tables belong together

    @property
    def names(self) -> tuple[str, ...]:
        """Short names of the columns, for the header."""
        return tuple(self.columns.get(index, "coreid").rsplit("/", 1)[-1] for index in range(max(self.columns) + 1))


def _identified() -> tuple[str, ...]:
    return tuple(
        DARWIN_CORE + name
        for name in (
            "scientificName", "higherClassification", "taxonID", "taxonRank", "identifiedBy", "dateIdentified",
            "identificationVerificationStatus", "identificationRemarks",
        )
    )  # fmt: skip


OCCURRENCES: Final = Table(
    OCCURRENCE,
    "occurrence.csv",
    dict(
        enumerate(
            (
                *(
                    DARWIN_CORE + name
                    for name in (
                        "occurrenceID", "basisOfRecord", "occurrenceStatus", "datasetName", "catalogNumber",
                        "eventDate", "decimalLatitude", "decimalLongitude", "geodeticDatum",
                    )
                ),
                *_identified(),
                DARWIN_CORE + "dynamicProperties",
            )
        )
    ),
)  # fmt: skip
"""The core: what was seen, once for each image."""
MEDIA: Final = Table(
    MULTIMEDIA,
    "multimedia.csv",
    dict(enumerate((DUBLIN_CORE + name for name in ("type", "format", "identifier", "title", "created")), start=1)),
)
"""GBIF's extension for images; the first column says of which occurrence."""
IDENTIFICATIONS: Final = Table(IDENTIFICATION, "identification.csv", dict(enumerate(_identified(), start=1)))
"""GBIF's extension for who, or what, identified it; the first column says which occurrence."""


def meta_xml() -> bytes:
    """The archive's description of its own three tables."""
    root = etree.Element(f"{_TEXT}archive", nsmap={None: _TEXT[1:-1]}, metadata=EML)
    for table in (OCCURRENCES, MEDIA, IDENTIFICATIONS):
        is_core = table is OCCURRENCES
        part = etree.SubElement(
            root,
            f"{_TEXT}{'core' if is_core else 'extension'}",
            encoding=table.encoding,
            fieldsTerminatedBy=table.separator,
            linesTerminatedBy="\\n",
            fieldsEnclosedBy=table.quote,
            ignoreHeaderLines=str(table.header_lines),
            rowType=table.row_type,
        )
        etree.SubElement(etree.SubElement(part, f"{_TEXT}files"), f"{_TEXT}location").text = table.file
        etree.SubElement(part, f"{_TEXT}{'id' if is_core else 'coreid'}", index="0")
        for index, term in table.columns.items():
            etree.SubElement(part, f"{_TEXT}field", index=str(index), term=term)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True))


def tables_in(meta: bytes) -> list[Table]:
    """The tables that an archive says it has, its core first.

    Raises:
        FormatError: `meta.xml` is no description of an archive, or names a file outside of it.
    """
    root = xml_tree(meta, META).getroot()
    try:
        tables = [_table(part) for part in _parts(root)]
    except (ValueError, AttributeError) as error:
        raise FormatError("{meta} cannot be understood", found=str(error)[:200], meta=META) from error
    if root.tag != f"{_TEXT}archive" or not tables:
        raise FormatError("{meta} describes no Darwin Core archive", found=str(root.tag)[:200], meta=META)
    return tables


def _parts(root: Element) -> Iterator[Element]:
    yield from root.findall(f"{_TEXT}core")
    yield from root.findall(f"{_TEXT}extension")


def _table(part: Element) -> Table:
    fields = part.findall(f"{_TEXT}field")
    return Table(
        part.get("rowType", ""),
        checked_name(part.find(f"{_TEXT}files/{_TEXT}location").text.strip(), META),
        {int(field.get("index")): field.get("term", "") for field in fields if field.get("index") is not None},
        _plain(part.get("fieldsTerminatedBy", ",")),
        _plain(part.get("fieldsEnclosedBy", '"')),
        int(part.get("ignoreHeaderLines", "0")),
        part.get("encoding", "UTF-8"),
        _id_index(part),
    )


def _id_index(part: Element) -> int:
    found = part.find(f"{_TEXT}id")
    found = part.find(f"{_TEXT}coreid") if found is None else found
    return 0 if found is None else int(found.get("index", "0"))


def _plain(sign: str) -> str:
    return _ESCAPES.get(sign, sign)
