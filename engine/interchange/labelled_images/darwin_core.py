"""Darwin Core archive of GBIF, museums and others: an occurrence for each image with a class.

`identification.csv` has its identifications by a person and by the model, `multimedia.csv` the
image. Data without a term of the standard (all paths, scores, content hash) is JSON in
`dynamicProperties`.
"""

import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote, unquote, urlsplit

from engine.errors import FormatError
from engine.files import PhotoDetails
from engine.interchange import limits
from engine.interchange.archives import entry, has_member
from engine.interchange.file_package import ArchiveTable, FilePackage, opened_package
from engine.interchange.labelled_images import darwin_core_archive as terms
from engine.interchange.labelled_images.class_folders import NO_CLASS_REASON
from engine.interchange.labelled_images.class_labels import local_path
from engine.interchange.labelled_images.darwin_core_archive import (
    DARWIN_CORE,
    eml_xml,
    permanent_id,
)
from engine.interchange.labelled_images.foreign_labels import (
    ForeignLabel,
    ForeignLabels,
    LabelCollector,
)
from engine.interchange.labelled_images.json_lines import encoded, plain, texts
from engine.interchange.labelled_images.records import LabelledImage, LabelledImages, WrittenExport
from engine.interchange.labelled_images.table_rows import label_in, row_of, time_or_none
from engine.texts import marked

CANNOT_CARRY = (
    "images without a class are left out: they are not occurrences",
    (
        "an empty image is an absence without a name: fill in the taxon (scientificName) before "
        "you publish"
    ),
    "boxes: there is no term for them; each is an occurrence with its whole image",
    "the licence and the contact are not known: fill them in (eml.xml) before you publish",
)
VERIFIED = "verified by a person"
UNVERIFIED = "machine answer, verified by nobody"
BETWEEN_CLASSES = " | "  # as the standard recommends for higherClassification
_READ_TERMS = frozenset(terms.MEDIA_PLACES).union(
    terms.darwin_core(
        "scientificName dynamicProperties associatedMedia higherClassification taxonID "
        "identifiedBy dateIdentified identificationVerificationStatus occurrenceStatus "
        "individualCount"
    )
)
_LEFT_OUT_OF_PROPERTIES = frozenset({"file", "exported_at"})


def write(images: LabelledImages, file: BinaryIO) -> WrittenExport:
    """Write the archive; images without a class are skipped, empty ones are absences."""
    facts: dict[int, PhotoDetails] = {}
    for image in images.each():
        if image.class_id is not None or image.is_empty:
            facts[image.image_id] = images.facts_of(image)
    written = [image for image in images.images if image.image_id in facts]
    ids = {image.image_id: permanent_id(images.title, _place_of(image)).urn for image in written}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(entry(terms.META), terms.meta_xml(terms.TABLES, metadata=terms.EML))
        archive.writestr(entry(terms.EML), eml_xml(images))
        for table, rows in (
            (terms.OCCURRENCES, (_occurrence(images, each, ids, facts) for each in written)),
            (terms.MEDIA, (_medium(each, ids, facts) for each in written)),
            (
                terms.IDENTIFICATIONS,
                (row for each in written for row in _identifications(images, each, ids)),
            ),
        ):
            terms.add_table(archive, table, rows)
    left = len(images.images) - len(written)
    return WrittenExport(len(written), {NO_CLASS_REASON: left} if left else {})


def read(source: Path) -> ForeignLabels:
    """Read an archive: each occurrence with a name is a label."""
    with opened_package(source, terms.META) as package:
        return _labels(package, source)


def fits(source: Path) -> bool:
    """Whether it is a zip archive with a `meta.xml`."""
    return has_member(source, terms.META)


def _place_of(image: LabelledImage) -> str:
    """The path of an image, with its part as a media fragment."""
    return f"{image.path}#{image.part.text}" if image.part.text else image.path


def _occurrence(
    images: LabelledImages,
    image: LabelledImage,
    ids: Mapping[int, str],
    facts: Mapping[int, PhotoDetails],
) -> Iterable[str]:
    fact = facts[image.image_id]
    has_place = fact.latitude is not None and fact.longitude is not None
    cells = row_of(images, image).items()
    own = {
        name: plain(value) for name, value in cells if value and name not in _LEFT_OUT_OF_PROPERTIES
    }
    own |= {name: text for name, text in (("camera", fact.camera), ("serial", fact.serial)) if text}
    identified: Iterable[str] = ("",) * len(terms.IDENTIFICATIONS.columns)
    if image.class_id is not None:
        identified = _identified(images, image, image.class_id, is_person=image.is_verified)
    elif image.label is not None:
        identified = "", "", "", "", image.label.who, image.label.when.isoformat(), VERIFIED, ""
    place = (f"{fact.latitude:.7f}", f"{fact.longitude:.7f}", "WGS84") if has_place else ("",) * 3
    return (
        ids[image.image_id],
        "MachineObservation",
        "absent" if image.is_empty else "present",
        images.title,
        str(image.image_id),
        fact.date_text,
        *place,
        "" if image.count is None else str(image.count),
        *(image.facts.get(term, "") for term in ("sex", "lifeStage", "behavior")),
        *identified,
        encoded(own).decode(),
    )


def _medium(
    image: LabelledImage, ids: Mapping[int, str], facts: Mapping[int, PhotoDetails]
) -> Iterable[str]:
    fact = facts[image.image_id]
    try:
        url = quote(image.path.encode("utf-8", "surrogateescape"), safe="/")
    except UnicodeEncodeError:  # unpaired surrogates, as Windows allows them
        url = ""
    written = (fact.fields.get(name, "") for name in ("description", "creator", "copyright"))
    return (
        ids[image.image_id],
        "StillImage",
        fact.media_type,
        url,
        image.file.name,
        fact.date_text,
        *written,
    )


def _identifications(
    images: LabelledImages, image: LabelledImage, ids: Mapping[int, str]
) -> Iterator[Iterable[str]]:
    """By the person, then by the model: its safe class, and the leaf if it is another class."""
    core = ids[image.image_id]
    if image.label is not None and image.label.class_id is not None:
        yield core, *_identified(images, image, image.label.class_id, is_person=True)
    if image.answer is not None and not image.answer.is_unknown:
        for class_id in dict.fromkeys((image.answer.safe_id, image.answer.leaf_id)):
            if class_id is not None:
                yield core, *_identified(images, image, class_id, is_person=False)


def _identified(
    images: LabelledImages, image: LabelledImage, class_id: int, *, is_person: bool
) -> Iterable[str]:
    path = images.paths(class_id)[0]
    attributes = images.graph.attributes(class_id)
    start = path[-1], BETWEEN_CLASSES.join(path[:-1]), attributes.source_id, attributes.rank
    if is_person and image.label is not None:
        return *start, image.label.who, image.label.when.isoformat(), VERIFIED, ""
    answer = image.answer
    assert answer is not None, "either of them names a class"
    score = answer.safe_score if class_id == answer.safe_id else answer.leaf_score
    return (
        *start,
        images.model_text,
        images.made_at.isoformat(),
        UNVERIFIED,
        f"probability {score:.6f}",
    )


def _labels(package: FilePackage, source: Path) -> ForeignLabels:
    core, *others = terms.tables_in(package.data(terms.META))
    if core.row_type != terms.OCCURRENCE:
        raise FormatError(
            "{source} has no occurrences",
            expected="an archive whose core is Occurrence",
            found=core.row_type,
            source=source.name,
        )
    media: dict[str, list[str]] = {}
    for table in others:
        if table.file and table.row_type in terms.MEDIA_TYPES:
            for row in _rows(package, table):
                place = next((row[term] for term in terms.MEDIA_PLACES if row.get(term)), "")
                media.setdefault(row[""], []).extend([place] if place else [])
    collector = LabelCollector()
    for number, row in enumerate(_rows(package, core), start=1):
        labels = _occurrence_labels(row, media.get(row[""], []), source)
        collector.add(number, labels, marked("occurrence {place}: {reason}"))
        limits.RECORDS.check(len(collector.labels), source.name)
    return collector.collected()


def _occurrence_labels(
    row: Mapping[str, str], media: list[str], source: Path
) -> Iterator[ForeignLabel | None]:

    def cell(name: str) -> str:
        return row.get(DARWIN_CORE + name, "").strip()

    name = cell("scientificName")
    own = _properties(cell("dynamicProperties"))
    is_absence = cell("occurrenceStatus").casefold() == "absent"
    if own.get("image") and (own.get("class") == name or (is_absence and own.get("is_empty"))):
        yield label_in(own, source.parent)
        return
    places = media or _parts(cell("associatedMedia"))
    for place in [own["image"]] if own.get("image") else places:
        image, file = _image(place, source.parent, is_url=place in media)
        if name and image and not is_absence:
            yield ForeignLabel(
                image,
                (*_parts(cell("higherClassification")), name),
                source_id=cell("taxonID"),
                file=file,
                content_hash=own.get("content_hash", ""),
                who=cell("identifiedBy"),
                when=time_or_none(cell("dateIdentified")),
                is_machine=cell("identificationVerificationStatus") == UNVERIFIED,
                count=int(count) if (count := cell("individualCount")).isdecimal() else None,
            )


def _parts(text: str) -> list[str]:
    return [each.strip() for each in text.split("|") if each.strip()]


def _image(place: str, folder: Path, *, is_url: bool) -> tuple[str, Path | None]:
    """Name of an image, and its local file; None for a web address."""
    parts = urlsplit(place)
    if parts.scheme in {"http", "https"}:
        return unquote(parts.path, errors="surrogateescape").lstrip("/"), None
    if parts.scheme == "file":
        path = local_path(parts.path)
    else:
        path = unquote(place, errors="surrogateescape") if is_url else place
    return path, folder / path


def _properties(text: str) -> dict[str, str]:
    """Our properties of an occurrence; {} for other programs."""
    try:
        found = json.loads(text) if text.startswith("{") else {}
    except (ValueError, RecursionError):
        return {}
    return texts(found) if isinstance(found, dict) else {}


def _rows(package: FilePackage, table: ArchiveTable) -> Iterator[dict[str, str]]:
    """Rows by term; the id that joins tables is under ""."""
    columns = {at: term for at, term in table.columns.items() if term in _READ_TERMS}
    for _, cells in package.rows(table):
        yield {
            "": cells[table.id_index] if table.id_index < len(cells) else "",
            **{term: cells[at] for at, term in columns.items() if at < len(cells)},
        }
