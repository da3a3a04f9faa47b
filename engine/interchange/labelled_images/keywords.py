"""Keywords of photos as labels, from images and sidecars (Lightroom, digiKam, darktable, Bridge).

Flat keywords that repeat parts of a hierarchical one are dropped. Keywords that we wrote are read
by the format "xmp".
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path

from engine.errors import FormatError, StorageError, reason_of
from engine.files import EmbeddedKeywords, shown
from engine.graph.limits import DEEPEST_LEVEL
from engine.interchange import limits
from engine.interchange.labelled_images import xmp_sidecars
from engine.interchange.labelled_images.class_folders import IMAGES_TABLE, each_file
from engine.interchange.labelled_images.foreign_labels import (
    ForeignLabel,
    ForeignLabels,
    Keyword,
    LabelCollector,
    distinct_keywords,
    problem_at,
)
from engine.interchange.labelled_images.records import GivenNote
from engine.interchange.labelled_images.table_rows import note_of
from engine.interchange.xmp_packet import XmpPacket, property_name
from engine.texts import Message, in_english

EmbeddedOf = Callable[[Path], EmbeddedKeywords]  # reads keywords inside of an image

_HIERARCHICAL = (
    (xmp_sidecars.HIERARCHICAL, "|"),
    (xmp_sidecars.TAGS, "/"),
    (property_name("MicrosoftPhoto:LastKeywordXMP"), "/"),
    (property_name("mediapro:CatalogSets"), "|"),
)
"""Properties of hierarchical keywords, and the separators of their names."""
_LOOKED_AT = 100  # sidecars whose images are searched to detect the format. Chosen.


def read(source: Path, embedded_of: EmbeddedOf) -> ForeignLabels:
    """Read the keywords of an image or sidecar, or of all images in a folder.

    Args:
        source: a folder, an image, or a sidecar.
        embedded_of: reads the keywords inside of images.
    """
    if not source.exists():
        raise StorageError('there is no "{source}"', remedy="check the path", source=source)
    folder = source if source.is_dir() else source.parent
    sidecars = _by_image(source)
    if source.is_dir():
        images = dict.fromkeys((*(file for _, file in each_file(source)), *sidecars))
    else:
        images = {
            xmp_sidecars.image_meant(source)
            if source.suffix.casefold() == xmp_sidecars.SUFFIX
            else source: None
        }
    read = LabelCollector()
    for image in images:
        found, note = _keywords_and_note(image, sidecars.get(image, ()), embedded_of, read.problems)
        name = image.relative_to(folder).as_posix()
        read.noted += [] if note is None else [ForeignLabel(name, (), file=image, note=note)]
        read.labels += (
            ForeignLabel(name, keyword, file=image, is_keyword=True) for keyword in found
        )
        read.unlabelled += not found
    if not (read.labels or read.noted or read.problems):
        raise FormatError(
            "{source} has no keywords",
            expected="photos with embedded keywords, or with sidecar files",
            source=source.name,
        )
    return read.collected()


def fits(source: Path) -> bool:
    """Whether it is a sidecar, or a folder with an image and its sidecar, but without our table.

    Images are not opened: folders of photos may be class folders, which are checked later.
    """
    if source.is_file():
        return source.suffix.casefold() == xmp_sidecars.SUFFIX
    return not (source / IMAGES_TABLE).exists() and any(
        xmp_sidecars.image_of_sidecar(each)
        for each in islice(xmp_sidecars.sidecars_in(source), _LOOKED_AT)
    )


def _keywords_and_note(
    image: Path, sidecars: Iterable[Path], embedded_of: EmbeddedOf, problems: list[str]
) -> tuple[list[Keyword], GivenNote | None]:
    """Keywords and note of an image, by other programs."""
    embedded = embedded_of(image)
    hierarchical: list[Keyword] = []
    flat, ratings, descriptions = list(embedded.iptc), list[str](), list[str]()
    for packet in _packets(image, embedded.xmp, sidecars, problems):
        for name, separator in _HIERARCHICAL:
            parts = (map(str.strip, text.split(separator)) for text in _theirs(packet, name))
            hierarchical += (tuple(filter(None, names)) for names in parts)
        flat += _theirs(packet, xmp_sidecars.SUBJECT)
        ratings += _others(packet, xmp_sidecars.RATING)
        descriptions += _others(packet, xmp_sidecars.DESCRIPTION)
    note = note_of(next(iter(ratings), ""), "", next(iter(descriptions), ""))
    if len(hierarchical) + len(flat) > limits.MOST_KEYWORDS:
        reason = Message(
            "more than {most:,} keywords; none was read", {"most": limits.MOST_KEYWORDS}
        )
        problems.append(problem_at(shown(str(image)), reason))
        return [], note
    shallow = [names for names in hierarchical if len(names) <= DEEPEST_LEVEL + 1]
    if len(shallow) < len(hierarchical):
        reason = Message(
            "keywords of more than {levels} levels were skipped", {"levels": DEEPEST_LEVEL + 1}
        )
        problems.append(problem_at(shown(str(image)), reason))
    return distinct_keywords(shallow, flat), note


def _others(packet: XmpPacket, name: str) -> list[str]:
    """Texts of a property, unless we wrote them."""
    texts = packet.texts(name)
    return [] if texts == packet.texts(xmp_sidecars.WRITTEN_NOTES[name]) else texts


def _packets(
    image: Path, embedded: bytes, sidecars: Iterable[Path], problems: list[str]
) -> Iterator[XmpPacket]:
    """Packets of an image, then of its sidecars; errors become problems."""
    for place in (*([image] if embedded else []), *sidecars):
        try:
            yield XmpPacket.parse(
                embedded if place == image else xmp_sidecars.sidecar_data(place), place.name
            )
        except (OSError, FormatError) as error:
            problems.append(problem_at(shown(str(place)), in_english(str(error), reason_of(error))))


def _theirs(packet: XmpPacket, name: str) -> Iterator[str]:
    ours = set(packet.texts(xmp_sidecars.WRITTEN[name])) if name in xmp_sidecars.WRITTEN else set()
    yield from (text for text in packet.texts(name) if text not in ours)


def _by_image(source: Path) -> dict[Path, list[Path]]:
    """Sidecars by their existing or expected image."""
    found: dict[Path, list[Path]] = defaultdict(list)
    listed = cache(xmp_sidecars.names_by_stem)
    sidecars = (
        ()
        if source.is_dir()
        else (
            source.with_name(f"{source.name}{xmp_sidecars.SUFFIX}"),
            source.with_suffix(xmp_sidecars.SUFFIX),
        )
    )
    for sidecar in dict.fromkeys(
        (*xmp_sidecars.sidecars_in(source), *(each for each in sidecars if each.is_file()))
    ):
        found[xmp_sidecars.image_meant(sidecar, listed)].append(sidecar)
    return dict(found)
