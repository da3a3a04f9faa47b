"""XMP sidecars: keywords for Lightroom, digiKam, darktable and file browsers.

Other data (who, when, person or model, score) is in properties of our own, and so are the keywords
that we wrote: those are replaced by the next export. Everything else in a sidecar is preserved.
Images are not changed.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import groupby, islice
from pathlib import Path

from engine.errors import FormatError, reason_of
from engine.files import FileFailure, open_regular, shown
from engine.full_disk import is_full
from engine.interchange import limits
from engine.interchange.labelled_images.class_folders import NO_CLASS_REASON, FolderOptions
from engine.interchange.labelled_images.foreign_labels import (
    ForeignLabels,
    LabelCollector,
    problem_at,
)
from engine.interchange.labelled_images.json_lines import texts
from engine.interchange.labelled_images.records import LabelledImage, LabelledImages, WrittenExport
from engine.interchange.labelled_images.table_rows import label_in, noted_in, row_of
from engine.interchange.text_file import files_below
from engine.interchange.xml_files import xml_text
from engine.interchange.xmp_packet import XmpPacket, property_name
from engine.new_file import clear_abandoned_drafts, output_file

CANNOT_CARRY = (
    (
        "a program that writes keywords into images may drop the annotator and the model's "
        "predictions"
    ),
    "boxes: a sidecar has the classes of all of them as keywords, of which one is read back",
    "sidecars of images that are not exported are not updated",
)
SUFFIX = ".xmp"
SUBJECT = property_name("dc:subject")
HIERARCHICAL = property_name("lr:hierarchicalSubject")
TAGS = property_name("digiKam:TagsList")
OWN = property_name("protoleaf:")[1:-1]
WRITTEN: Mapping[str, str] = {
    SUBJECT: property_name("protoleaf:written_subject"),
    HIERARCHICAL: property_name("protoleaf:written_hierarchical_subject"),
    TAGS: property_name("protoleaf:written_tags_list"),
}
"""Our properties for the keywords that we wrote, by property."""
RATING = property_name("xmp:Rating")
DESCRIPTION = property_name("dc:description")
WRITTEN_NOTES: Mapping[str, str] = {
    RATING: property_name("protoleaf:written_rating"),
    DESCRIPTION: property_name("protoleaf:written_description"),
}
"""Our properties for the stars and comment that we wrote."""
Listed = Callable[[Path], dict[str, list[str]]]
_CONTAINERS = {SUBJECT: "Bag", HIERARCHICAL: "Bag", TAGS: "Seq"}
_LEFT_OUT = frozenset({"file", "exported_at"})
_ENDING = property_name("photoshop:SidecarForExtension")
_LOOKED_AT = 20  # sidecars that are opened to detect the format. Chosen.


def write(images: LabelledImages, out: Path, options: FolderOptions) -> WrittenExport:
    """Write a sidecar for each labelled image; other contents of existing ones are preserved.

    Args:
        images: the collection.
        out: the folder of the images, or another one in which their folders are mirrored.
        options: unused, as no image is placed.
    """
    del options
    out.mkdir(parents=True, exist_ok=True)
    places = _Places(images, Path(os.path.realpath(out)))
    written = without = 0
    failures: list[FileFailure] = []
    for _, items in groupby(images.images, key=lambda image: image.path):
        of_file = list(items)
        labelled = list(filter(_has_label, of_file))
        image = (labelled or of_file)[0]
        try:
            sidecar = places.of(image)
            without += len(of_file) - len(labelled)
            if labelled or sidecar.exists():  # without a label, our earlier contents are removed
                _write_one(images, image, of_file, sidecar)
            written += len(labelled)
        except (OSError, FormatError) as error:
            if isinstance(error, OSError) and is_full(out, error):
                raise
            failures.append(FileFailure(image.file, reason_of(error)))
        for _ in of_file:
            images.on_image()
    return WrittenExport(written, {NO_CLASS_REASON: without} if without else {}, tuple(failures))


def read(source: Path) -> ForeignLabels:
    """Read our properties in a sidecar, or in those of a folder."""
    read, listed = LabelCollector(), cache(names_by_stem)
    for sidecar in sidecars_in(source):
        try:
            data = sidecar_data(sidecar)
            if OWN.encode() in data:
                row = _row(XmpPacket.parse(data, sidecar.name), sidecar, listed)
                label = label_in(row, sidecar.parent) if row.get("class") else None
                note = noted_in(row, sidecar.parent) if row else None
                read.unlabelled += label is None
                read.labels += [] if label is None else [label]
                read.noted += [] if note is None else [note]
        except (OSError, FormatError, ValueError) as error:
            read.problems.append(problem_at(shown(str(sidecar)), reason_of(error)))
    if not (read.labels or read.unlabelled or read.problems):
        raise FormatError(
            "{source} has no sidecars written by this program",
            expected="files {suffix} of an earlier export",
            remedy="keywords of other programs are read as the format keywords",
            source=source.name,
            suffix=SUFFIX,
        )
    return read.collected()


def fits(source: Path) -> bool:
    """Whether one of the first sidecars is ours."""
    for sidecar in islice(sidecars_in(source), _LOOKED_AT):
        try:
            if OWN.encode() in sidecar_data(sidecar):
                return True
        except (OSError, FormatError):
            continue
    return False


def sidecars_in(source: Path) -> Iterator[Path]:
    """The sidecars in a folder and below, sorted by name; or the sidecar itself."""
    if source.is_file() and source.suffix.casefold() == SUFFIX:
        yield source
    yield from (
        file
        for file in files_below(source)
        if _is_sidecar(file.name) and not file.name.startswith(".")
    )


def sidecar_data(sidecar: Path) -> bytes:
    """Read a sidecar.

    Raises:
        OSError: it cannot be read.
        FormatError: it is too large.
    """
    with open_regular(sidecar) as file:
        data = file.read(limits.DOCUMENT_BYTES.most + 1)
    limits.DOCUMENT_BYTES.check(len(data), sidecar.name)
    return data


def keywords_of(images: LabelledImages, class_id: int) -> dict[str, list[str]]:
    """Keywords of a class by property, along all of its paths; separators in names become "_"."""
    paths = images.paths(class_id)
    return {
        SUBJECT: list(dict.fromkeys(xml_text(name) for path in paths for name in path)),
        HIERARCHICAL: [
            "|".join(xml_text(name).replace("|", "_") for name in path) for path in paths
        ],
        TAGS: ["/".join(xml_text(name).replace("/", "_") for name in path) for path in paths],
    }


class _Places:
    """Paths of sidecars: next to images in the target folder, else in a mirrored folder."""

    def __init__(self, images: LabelledImages, out: Path) -> None:
        self._out = out
        self._folder = None if images.folder is None else Path(os.path.realpath(images.folder))
        self._real = cache(lambda folder: Path(os.path.realpath(folder)))
        self._names = cache(_names_in)
        self._stems = cache(
            lambda folder: Counter(
                _stem(name) for name in _names_in(folder) if not _is_sidecar(name)
            )
        )
        self._cleared: set[Path] = set()

    def of(self, image: LabelledImage) -> Path:
        """The sidecar of an image; creates its folder.

        Raises:
            OSError: the folder cannot be created, or the image does not exist.
        """
        source = self._real(image.file.parent)
        is_in_target = source.is_relative_to(self._out)
        folder = source if is_in_target else self._out / self._below(source)
        if is_in_target:
            image.file.stat()  # creates no folders where a disk was unplugged
        else:
            folder.mkdir(parents=True, exist_ok=True)
        if folder not in self._cleared:
            clear_abandoned_drafts(folder)
            self._cleared.add(folder)
        return folder / self._name(image.file.name, source, folder)

    def _below(self, source: Path) -> Path:
        """A folder's path below that of all images; without that, with the drive letter."""
        if self._folder is not None and source.is_relative_to(self._folder):
            return source.relative_to(self._folder)
        return Path(source.drive.strip(":\\/?.").replace("\\", "_"), *source.parts[1:])

    def _name(self, name: str, source: Path, folder: Path) -> str:
        """`photo.jpg.xmp` (digiKam, darktable) or `photo.xmp` (Lightroom), by existing sidecars.

        If several files have the same stem (RAW and JPEG), `photo.xmp` would be ambiguous.
        """
        long, short = f"{name}{SUFFIX}", f"{_stem(name)}{SUFFIX}"
        there = self._names(folder)
        if long in there or self._stems(source)[_stem(name)] > 1:
            return long
        if short in there:
            return short
        stems = self._stems(source)
        others = [other for other in there if _is_sidecar(other)]
        is_lightroom = others and all(
            stems[_stem(other)] or "." not in _stem(other) for other in others
        )
        return short if is_lightroom else long


def _names_in(folder: Path) -> frozenset[str]:
    try:
        return frozenset(each.name for each in folder.iterdir())
    except OSError:
        return frozenset()


def _stem(name: str) -> str:
    return os.path.splitext(name)[0]  # noqa: PTH122 (a name, no path)


def _is_sidecar(name: str) -> bool:
    return name.casefold().endswith(SUFFIX)


def _has_label(image: LabelledImage) -> bool:
    return (
        image.class_id is not None or image.is_of_none or image.is_empty or image.note is not None
    )


def _write_one(
    images: LabelledImages, image: LabelledImage, of_file: list[LabelledImage], sidecar: Path
) -> None:
    """Write a sidecar if it changes; flush it to disk if it has contents of other programs.

    Args:
        images: the collection.
        image: whose data is written.
        of_file: all images of the file, whose classes become keywords.
        sidecar: is written.
    """
    before = sidecar_data(sidecar) if sidecar.exists() else None
    packet = (
        XmpPacket.empty(images.program) if before is None else XmpPacket.parse(before, sidecar.name)
    )
    record = _record(images, image)
    keywords: dict[str, list[str]] = {name: [] for name in WRITTEN}
    for class_id in dict.fromkeys(each.class_id for each in of_file if each.class_id is not None):
        for name, found in keywords_of(images, class_id).items():
            keywords[name] += [text for text in found if text not in keywords[name]]
    if (
        before is not None
        and _is_up_to_date(packet, record, keywords)
        and _has_notes(packet, image)
    ):
        return
    is_foreign = before is not None and OWN.encode() not in before
    for name, ours in WRITTEN.items():
        earlier = set(packet.texts(ours))
        theirs = {text for text in packet.texts(name) if text not in earlier}
        added = [text for text in keywords[name] if text not in theirs]
        packet.put(ours, added)
        packet.exchange(name, earlier, added, container=_CONTAINERS[name])
    _write_note(packet, image)
    for name in packet.values(OWN).keys() - {*WRITTEN.values(), *WRITTEN_NOTES.values()}:
        packet.put(name, "")
    for name, value in record.items():
        packet.put(name, value)
    with output_file(sidecar, durable=is_foreign) as file:
        file.write(packet.data())


def _note_texts(image: LabelledImage) -> dict[str, str]:
    """Stars and comment by property; "" for none."""
    note = image.note
    return {
        RATING: str(note.stars) if note and note.stars else "",
        DESCRIPTION: _clean(note.comment) if note else "",
    }


def _write_note(packet: XmpPacket, image: LabelledImage) -> None:
    """Write stars and comment, unless another program wrote its own."""
    texts = _note_texts(image)
    for name, mark in WRITTEN_NOTES.items():
        ours, there = packet.texts(mark), packet.texts(name)
        if there and there != ours:
            packet.put(mark, "")
            continue
        packet.put(name, texts[name])
        packet.put(mark, texts[name])


def _has_notes(packet: XmpPacket, image: LabelledImage) -> bool:
    """Whether the note that we wrote is up to date."""
    wanted = _note_texts(image)
    return all(
        packet.texts(mark) == ([wanted[name]] if wanted[name] else [])
        or packet.texts(name) != packet.texts(mark)
        for name, mark in WRITTEN_NOTES.items()
    )


def _is_up_to_date(
    packet: XmpPacket, record: Mapping[str, str | list[str]], keywords: Mapping[str, list[str]]
) -> bool:
    marks = {*WRITTEN.values(), *WRITTEN_NOTES.values()}
    own = {name: found for name, found in packet.values(OWN).items() if name not in marks}
    wanted = {name: [value] if isinstance(value, str) else value for name, value in record.items()}
    return own == wanted and all(
        set(packet.texts(ours)) <= set(keywords[name]) <= set(packet.texts(name))
        for name, ours in WRITTEN.items()
    )


def _record(images: LabelledImages, image: LabelledImage) -> dict[str, str | list[str]]:
    """Our properties of an image, except for its keywords; {} without a label."""
    if not _has_label(image):
        return {}
    row = {
        name: value
        for name, value in row_of(images, image).items()
        if value and name not in _LEFT_OUT
    }
    return {
        property_name(f"protoleaf:{name}"): [_clean(each) for each in value]
        if isinstance(value, tuple)
        else _clean(texts({name: value})[name])
        for name, value in row.items()
    }


def _clean(text: str) -> str:
    return xml_text(shown(text)).strip()


def _row(packet: XmpPacket, sidecar: Path, listed: Listed) -> dict[str, str]:
    """Our properties by column; {} if the sidecar has none of an image."""
    row = {name.rsplit("}", 1)[1]: "\n".join(found) for name, found in packet.values(OWN).items()}
    if not row.get("image"):
        return {}
    return row | {"file": str(image_of_sidecar(sidecar, listed) or row["image"])}


def image_of_sidecar(sidecar: Path, listed: Listed | None = None) -> Path | None:
    """The existing image of a sidecar, if any; `listed` is `names_by_stem`, or it cached."""
    stem = _stem(sidecar.name)
    names = (listed or names_by_stem)(sidecar.parent)
    if stem in names.get(_stem(stem), ()):
        return sidecar.with_name(stem)
    there = names.get(stem, [])
    if len(there) > 1 and (ending := _extension(sidecar)):  # RAW and JPEG
        there = [name for name in there if name.casefold().endswith(f".{ending}")]
    return next(map(sidecar.with_name, there), None)


def image_meant(sidecar: Path, listed: Listed | None = None) -> Path:
    """The existing or expected image of a sidecar; `photo.xmp` may contain the suffix."""
    if (image := image_of_sidecar(sidecar, listed)) is not None:
        return image
    bare = sidecar.with_suffix("")
    ending = "" if bare.suffix else _extension(sidecar)
    return sidecar.with_suffix(f".{ending}") if ending else bare


def _extension(sidecar: Path) -> str:
    """Suffix of the photo that Lightroom stored in a sidecar, in lower case; "" for none."""
    try:
        found = XmpPacket.parse(sidecar_data(sidecar), sidecar.name).texts(_ENDING)
    except (OSError, FormatError):
        return ""
    return found[0].strip().lstrip(".").casefold() if found else ""


def names_by_stem(folder: Path) -> dict[str, list[str]]:
    """Names of files in a folder, without sidecars, by stem."""
    found: dict[str, list[str]] = {}
    for name in sorted(_names_in(folder)):
        if not _is_sidecar(name):
            found.setdefault(_stem(name), []).append(name)
    return found
