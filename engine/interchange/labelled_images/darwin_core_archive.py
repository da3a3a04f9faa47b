"""Documents of a Darwin Core archive: `meta.xml` describes its tables, `eml.xml` is its metadata.

The terms are those of the core "Occurrence" and of GBIF's extensions "Simple Multimedia" and
"Identification History"; the metadata is in the Ecological Metadata Language in GBIF's profile. It
has title, annotators and model of a collection; licence, place and contact are to be added.
"""

import io
import uuid
import zipfile
from collections.abc import Iterable, Sequence

from lxml import etree

from engine.errors import FormatError
from engine.files import shown
from engine.interchange.archives import checked_name, entry
from engine.interchange.file_package import ArchiveTable
from engine.interchange.labelled_images.records import LabelledImages
from engine.interchange.table_writer import write_table
from engine.interchange.text_file import words
from engine.interchange.xml_files import Element, xml_text, xml_tree

DARWIN_CORE = "http://rs.tdwg.org/dwc/terms/"
DUBLIN_CORE = "http://purl.org/dc/terms/"
OCCURRENCE = DARWIN_CORE + "Occurrence"
MULTIMEDIA = "http://rs.gbif.org/terms/1.0/Multimedia"
AUDUBON = "http://rs.tdwg.org/ac/terms/"
MEDIA_TYPES = frozenset({MULTIMEDIA, f"{AUDUBON}Multimedia", "http://rs.gbif.org/terms/1.0/Image"})
"""Row types of tables of images."""
MEDIA_PLACES = (
    f"{AUDUBON}accessURI",
    f"{DUBLIN_CORE}identifier",
    f"{DUBLIN_CORE}references",
)
"""Terms of an image's location, in order; in Audubon Core `identifier` is only a name."""
IDENTIFICATION = DARWIN_CORE + "Identification"
META = "meta.xml"
EML = "eml.xml"
_TEXT = "{http://rs.tdwg.org/dwc/text/}"
_ESCAPES = {"\\t": "\t", "\\n": "\n", "\\r": "\r"}


def darwin_core(names: str) -> tuple[str, ...]:
    """Terms of Darwin Core by their short names, separated by blanks."""
    return tuple(DARWIN_CORE + name for name in names.split())


_IDENTIFIED = darwin_core(
    "scientificName higherClassification taxonID taxonRank identifiedBy dateIdentified "
    "identificationVerificationStatus identificationRemarks"
)
_OCCURRED = darwin_core(
    "occurrenceID basisOfRecord occurrenceStatus datasetName catalogNumber eventDate "
    "decimalLatitude decimalLongitude geodeticDatum individualCount sex lifeStage behavior"
)
OCCURRENCES = ArchiveTable(
    OCCURRENCE,
    "occurrence.csv",
    dict(enumerate((*_OCCURRED, *_IDENTIFIED, DARWIN_CORE + "dynamicProperties"))),
)
"""The core: an occurrence for each image."""
_OF_MEDIA = words("type format identifier title created description creator rightsHolder")
MEDIA = ArchiveTable(
    MULTIMEDIA,
    "multimedia.csv",
    dict(enumerate((DUBLIN_CORE + name for name in _OF_MEDIA), start=1)),
)
"""GBIF's extension for images; the first column is the occurrence."""
IDENTIFICATIONS = ArchiveTable(
    IDENTIFICATION, "identification.csv", dict(enumerate(_IDENTIFIED, start=1))
)
"""GBIF's extension for identifications; the first column is the occurrence."""
TABLES = (OCCURRENCES, MEDIA, IDENTIFICATIONS)
"""Of an archive of occurrences."""


def meta_xml(tables: Sequence[ArchiveTable], *, metadata: str = "") -> bytes:
    """Write `meta.xml`.

    Args:
        tables: of the archive, the core first.
        metadata: name of its metadata document; "" for none.
    """
    root = etree.Element(f"{_TEXT}archive", nsmap={None: _TEXT[1:-1]})
    if metadata:
        root.set("metadata", metadata)
    for table in tables:
        is_core = table is tables[0]
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
        etree.SubElement(
            etree.SubElement(part, f"{_TEXT}files"), f"{_TEXT}location"
        ).text = table.file
        etree.SubElement(part, f"{_TEXT}{'id' if is_core else 'coreid'}", index="0")
        for index, term in table.columns.items():
            etree.SubElement(part, f"{_TEXT}field", index=str(index), term=term)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True))


def add_table(archive: zipfile.ZipFile, table: ArchiveTable, rows: Iterable[Iterable[str]]) -> None:
    """Write a table into an archive; line breaks in cells become blanks.

    Many readers take each line break for the end of a row, quoted or not.
    """
    with (
        archive.open(entry(table.file), "w", force_zip64=True) as file,
        io.TextIOWrapper(file, encoding=table.encoding, newline="") as text,
    ):
        write_table(text, table.names, (map(_one_line, row) for row in rows), line_end="\n")


def _one_line(cell: str) -> str:
    text = shown(cell)
    return text if text.isprintable() else " ".join(text.splitlines())


def tables_in(meta: bytes) -> list[ArchiveTable]:
    """Parse `meta.xml`: the tables of an archive, the core first.

    An extension may have no file; the core has one.

    Raises:
        FormatError: it is not a description of an archive, or names a file outside of it.
    """
    root = xml_tree(meta, META).getroot()
    try:
        tables = [
            _table(part) for tag in ("core", "extension") for part in root.findall(f"{_TEXT}{tag}")
        ]
    except ValueError as error:
        raise FormatError(
            "{meta} cannot be understood", found=str(error)[:200], meta=META
        ) from error
    if root.tag != f"{_TEXT}archive" or root.find(f"{_TEXT}core") is None:
        raise FormatError(
            "{meta} describes no Darwin Core archive", found=str(root.tag)[:200], meta=META
        )
    if not tables[0].file:
        raise FormatError(
            "the core in {meta} names no file",
            expected="<files><location>taxa.txt</location></files>",
            meta=META,
        )
    return tables


def _table(part: Element) -> ArchiveTable:
    fields = part.findall(f"{_TEXT}field")
    id_index = next(part.iterchildren(f"{_TEXT}id", f"{_TEXT}coreid"), None)
    location = (part.findtext(f"{_TEXT}files/{_TEXT}location") or "").strip()
    return ArchiveTable(
        part.get("rowType", ""),
        checked_name(location, META) if location else "",
        {
            int(field.get("index")): field.get("term", "")
            for field in fields
            if field.get("index") is not None
        },
        _plain(part.get("fieldsTerminatedBy", ",")) or ",",
        _plain(part.get("fieldsEnclosedBy", '"')),
        int(part.get("ignoreHeaderLines") or "0"),
        part.get("encoding", "UTF-8"),
        0 if id_index is None else int(id_index.get("index", "0")),
    )


def _plain(sign: str) -> str:
    """A separator or quote as one character; "" for none, and for several."""
    plain = _ESCAPES.get(sign, sign)
    return plain if len(plain) == 1 else ""


_EML = "https://eml.ecoinformatics.org/eml-2.2.0"
_LANGUAGE = "eng"  # of the sentences below


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
    names = images.people
    for role in ("creator", "metadataProvider"):
        _add_parties(dataset, role, names, images.program)
    _add(dataset, "pubDate", images.made_at.date().isoformat())
    _add(dataset, "language", _LANGUAGE)
    for text in _sentences(images):
        _paragraph(dataset, "abstract", text)
    _paragraph(
        dataset, "intellectualRights", "Not stated yet: state the licence before you publish."
    )
    _add_parties(dataset, "contact", names, images.program)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True))


def permanent_id(*parts: str) -> uuid.UUID:
    """An id that is the same in each export: of the data set, or of the occurrence of a path."""
    name = "\x00".join(parts).encode("utf-8", "surrogatepass").hex()
    return uuid.uuid5(uuid.NAMESPACE_OID, name)


def _sentences(images: LabelledImages) -> Iterable[str]:
    classified = [image for image in images.images if image.class_id is not None]
    verified = sum(image.is_verified for image in classified)
    answered = len(classified) - verified
    total = f"{verified + answered:,} images with their classes"
    yield f"{total}; {verified:,} were classified by people."
    if answered:
        by_model = f"{answered:,} were classified by a model ({images.model_text})"
        yield f"{by_model} and were verified by nobody."


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
