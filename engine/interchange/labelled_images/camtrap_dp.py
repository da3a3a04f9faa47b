"""Camtrap DP 1.0: what Agouti, TRAPPER, Wildlife Insights and GBIF exchange of camera traps; a folder of three tables.

The standard wants of each image a deployment with a place, and a time. A collection knows what its photos say; a
folder is taken for a deployment, and where photos say nothing, the tables do (`deploymentComments`, `mediaComments`,
`coordinateUncertainty`). One observation for each image: the person's, else the model's. `images.csv` has the rest.
"""

import csv
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, Final
from urllib.parse import quote, unquote

from engine.errors import FormatError
from engine.files import shown
from engine.interchange import limits
from engine.interchange.archives import file_within
from engine.interchange.labelled_images import csv_table
from engine.interchange.labelled_images.camtrap_dp_package import PACKAGE, TABLES, Deployment, package_json
from engine.interchange.labelled_images.class_folders import IMAGES_TABLE, FolderOptions, file_in, read_table
from engine.interchange.labelled_images.foreign_labels import ForeignLabel, ForeignLabels, LabelCollector
from engine.interchange.labelled_images.records import LabelledImage, LabelledImages, WrittenExport
from engine.interchange.labelled_images.table_rows import time_in
from engine.interchange.table_text import check_row_count, table_lines, unguarded
from engine.interchange.table_writer import write_table
from engine.interchange.text_file import read_json
from engine.new_file import text_into
from engine.texts import Message, marked

CANNOT_CARRY: Final = (
    "each folder counts as a deployment; its place is that of its photos, or anywhere on Earth where they say none",
    "photos without a time get that of their file, and UTC where their camera knew no time zone; comments say so",
    "sampling design, capture method and licence are not known: fill them in (datapackage.json) before you publish",
    "images are named, not contained",
)
_ANYWHERE_M: Final = 20_037_508  # half of the Earth's circumference: the place may be anywhere
_LEAST_UNCERTAINTY_M: Final = 30  # as telephones and cameras find their place; the standard wants at least one. Chosen.
_METRES_PER_DEGREE: Final = 111_320  # of latitude
_TYPES: Final[Mapping[str, frozenset[str]]] = {
    "human": frozenset({"human", "humans", "person", "people", "homo sapiens"}),
    "vehicle": frozenset({"vehicle", "vehicles", "car", "cars"}),
    "blank": frozenset({"blank", "empty", "nothing"}),
}
"""Names of classes that mean what the standard has types of its own for."""
_NOT_CLASSIFIED: Final = frozenset({"", "unknown", "unclassified"})
_READ_COLUMNS: Final = frozenset(
    {"mediaID", "filePath", "scientificName", "observationType", "classifiedBy", "classificationTimestamp",
     "classificationMethod"}
)  # fmt: skip
"""Of the tables of media and observations."""
_FORBIDDEN_STARTS: Final = (".", "/", "~")  # with which `filePath` must not begin


@dataclass(frozen=True)
class _Shot:
    """An image with what its header holds, and defaults where it holds nothing."""

    image: LabelledImage
    deployment: str
    time: str
    media_type: str
    comment: str


def write(images: LabelledImages, draft: Path, options: FolderOptions) -> WrittenExport:
    """Write the package's tables and their description; images stay where they are."""
    del options
    deployments: dict[str, Deployment] = {}
    shots = [_shot(images, image, deployments) for image in images.each()]
    events = _events(shots)
    rows: dict[str, Iterable[Mapping[str, str]]] = {
        "deployments": map(_deployment_row, deployments.values()),
        "media": map(_media_row, shots),
        "observations": (
            _observation_row(images, shot, events.get(shot.image.sequence, (shot.time, shot.time))) for shot in shots
        ),
    }
    for name, columns in TABLES.items():
        with file_in(draft, f"{name}.csv") as file, text_into(file) as text:
            cells = ([row.get(column) for column in columns] for row in rows[name])
            write_table(text, list(columns), cells, line_end="\n")
    with file_in(draft, IMAGES_TABLE) as file:
        csv_table.write_placed(images, file, {})
    with file_in(draft, PACKAGE) as file:
        file.write(package_json(images, deployments.values()))
    return WrittenExport(len(shots))


def read(source: Path) -> ForeignLabels:
    """Read the observations of a package's images; our own table counts where it has the same class."""
    folder = source.parent if source.is_file() else source
    package = _package(folder)
    found = read_table(folder)
    own_labels = () if found is None else found.labels
    ours = {place: label for label in own_labels for place in (label.image, str(label.file))}
    media = {row.get("mediaID", ""): row.get("filePath", "") for row in _rows(folder, package, "media")}
    taxa: dict[str, str] = {}
    for taxon in _taxa(package):
        name, taxon_id = taxon["scientificName"], taxon.get("taxonID", "")
        taxa[name] = taxon_id if taxa.get(name, taxon_id) == taxon_id else ""  # namesakes: the id says which of none
    collector = LabelCollector()
    of_events = 0
    for number, row in enumerate(_rows(folder, package, "observations"), start=1):
        path = media.get(row.get("mediaID", ""), "")
        name = row.get("scientificName", "") or row.get("observationType", "")
        own = ours.get(_local(path))
        if own is not None and "".join(own.names[-1:]) == row.get("scientificName", ""):
            collector.labels.append(own)
        elif not path:
            of_events += 1
        elif row.get("observationType", "") in _NOT_CLASSIFIED:
            collector.unlabelled += 1
        else:
            collector.add(marked("observation {place}: {reason}"), number, _labels, row, name, path, folder, taxa)
    if of_events:
        passed_over = marked("{count:,} observations of events, not of single images, were passed over")
        collector.problems.append(Message(passed_over, {"count": of_events}))
    return collector.collected()


def fits(source: Path) -> bool:
    """Whether it is a data package of camera traps, or its description."""
    try:
        return "camtrap-dp" in str(_package(source.parent if source.is_file() else source, source).get("profile"))
    except FormatError:
        return False


def _local(path: str) -> str:
    """A path on the disk, also where it is written as a URL of one."""
    is_url = path.startswith("file://")
    return unquote(path.removeprefix("file://"), errors="surrogateescape") if is_url else path


def _shot(images: LabelledImages, image: LabelledImage, deployments: dict[str, Deployment]) -> _Shot:
    facts = images.facts_of(image.file)
    parent = shown(str(PurePosixPath(image.path).parent))
    name = images.title if parent in {".", "/"} else parent
    deployment = deployments.setdefault(name, Deployment(name))
    time, comment = facts.taken_at, ""
    if time is None:
        time, comment = _file_time(image.file) or images.made_at, "the photo has no time: this is the file's"
    elif time.tzinfo is None:
        time, comment = time.replace(tzinfo=UTC), "the camera knew no time zone: UTC is put for it"
    deployment.times.append(time)
    deployment.has_doubtful_times |= bool(comment)
    if facts.latitude is not None and facts.longitude is not None:
        deployment.places.append((facts.latitude, facts.longitude))
    is_known = facts.media_type.startswith(("image/", "video/"))
    media_type = facts.media_type if is_known else f"image/x-{image.file.suffix.lstrip('.').casefold() or 'unknown'}"
    return _Shot(image, name, _time_text(time), media_type, comment)


def _file_time(file: Path) -> datetime | None:
    try:
        return datetime.fromtimestamp(file.stat().st_mtime, UTC)
    except (OSError, ValueError, OverflowError):
        return None


def _deployment_row(deployment: Deployment) -> dict[str, str]:
    latitude, longitude, uncertainty_m = _middle(deployment.places)
    return {
        "deploymentID": deployment.name,
        "locationName": deployment.name,
        "latitude": f"{latitude:.6f}",
        "longitude": f"{longitude:.6f}",
        "coordinateUncertainty": str(uncertainty_m),
        "deploymentStart": _time_text(min(deployment.times)),
        "deploymentEnd": _time_text(max(deployment.times)),
        "timestampIssues": "true" if deployment.has_doubtful_times else "false",
        "deploymentComments": "" if deployment.places else "The place is not known: 0, 0 stands for anywhere on Earth.",
    }


def _media_row(shot: _Shot) -> dict[str, str]:
    return {
        "mediaID": str(shot.image.image_id),
        "deploymentID": shot.deployment,
        "timestamp": shot.time,
        "filePath": _file_path(shot.image),
        "filePublic": "false",
        "fileName": shown(shot.image.file.name),
        "fileMediatype": shot.media_type,
        "mediaComments": shot.comment,
    }


def _events(shots: Iterable[_Shot]) -> dict[str, tuple[str, str]]:
    """First and last time of each sequence of images."""
    times: dict[str, list[str]] = {}
    for shot in shots:
        if shot.image.sequence:
            times.setdefault(shot.image.sequence, []).append(shot.time)
    return {name: (min(each), max(each)) for name, each in times.items()}


def _observation_row(images: LabelledImages, shot: _Shot, event: tuple[str, str]) -> dict[str, str]:
    image = shot.image
    row = {
        "observationID": str(image.image_id),
        "deploymentID": shot.deployment,
        "mediaID": str(image.image_id),
        "eventID": image.sequence,
        "eventStart": event[0],
        "eventEnd": event[1],
        "observationLevel": "media",
        "observationType": _observation_type(images, image),
        "scientificName": "" if image.class_id is None else images.graph.name(image.class_id),
    }
    if image.label is not None:
        return row | {
            "classificationMethod": "human",
            "classifiedBy": image.label.who,
            "classificationTimestamp": _time_text(image.label.when),
        }
    if image.class_id is None and not image.is_of_none:
        return row
    return row | {
        "classificationMethod": "machine",
        "classifiedBy": images.model_text,
        "classificationTimestamp": _time_text(images.made_at),
        "classificationProbability": "" if image.score is None else f"{image.score:.6f}",
    }


def _observation_type(images: LabelledImages, image: LabelledImage) -> str:
    if image.class_id is None:
        return "unknown" if image.is_of_none else "unclassified"
    names = {name.casefold() for path in images.paths(image.class_id) for name in path}
    return next((kind for kind, words in _TYPES.items() if words & names), "animal")


def _file_path(image: LabelledImage) -> str:
    """The path of an image in the project, or its URL; the standard allows neither ".." nor a leading "/"."""
    if not image.path.startswith(_FORBIDDEN_STARTS) and ".." not in image.path and image.path.isprintable():
        return image.path
    file = quote(os.fsencode(image.file.absolute().as_posix()), safe="/:")
    return "file://" + ("" if file.startswith("/") else "/") + file.replace("..", "%2E%2E")


def _middle(places: list[tuple[float, float]]) -> tuple[float, float, int]:
    """The middle of places, and the distance to the farthest in metres; their mean is near enough in a folder."""
    if not places:
        return 0, 0, _ANYWHERE_M
    latitude = sum(place[0] for place in places) / len(places)
    longitude = sum(place[1] for place in places) / len(places)
    shrink = math.cos(math.radians(latitude))
    farthest = max(math.hypot(place[0] - latitude, (place[1] - longitude) * shrink) for place in places)
    return latitude, longitude, max(_LEAST_UNCERTAINTY_M, math.ceil(farthest * _METRES_PER_DEGREE))


def _time_text(time: datetime) -> str:
    return time.isoformat(timespec="seconds")


def _package(folder: Path, named: Path | None = None) -> dict[str, Any]:
    path = folder / PACKAGE
    if (named is not None and named.is_file() and named.name != PACKAGE) or not path.is_file():
        raise FormatError(
            "{folder} is no data package", expected="a folder with {package}", folder=folder.name, package=PACKAGE
        )
    found = read_json(path)
    if not isinstance(found, dict):
        raise FormatError("{package} is no JSON object", package=PACKAGE)
    return found


def _taxa(package: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    listed = package.get("taxonomic")
    for taxon in listed if isinstance(listed, list) else ():
        if isinstance(taxon, dict) and isinstance(taxon.get("scientificName"), str):
            yield {name: value for name, value in taxon.items() if isinstance(value, str)}


def _rows(folder: Path, package: Mapping[str, Any], name: str) -> Iterator[dict[str, str]]:
    listed = package.get("resources")
    resources = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    path = next((each.get("path") for each in resources if each.get("name") == name), None)
    if not isinstance(path, str):
        raise FormatError(
            "the package has no table of {name}", expected="{name}.csv beside {package}", name=name, package=PACKAGE
        )
    table = file_within(folder, path, PACKAGE)
    try:
        check_row_count(table, ",")
        with table_lines(table) as lines:
            for row in limits.at_most(csv.DictReader(lines), path):
                known = ((key, row[key]) for key in row.keys() & _READ_COLUMNS)
                yield {key: unguarded(value) for key, value in known if isinstance(value, str)}
    except csv.Error as error:
        raise FormatError("{path} is not a CSV file", found=str(error), path=path) from error


def _labels(
    row: Mapping[str, str], name: str, path: str, folder: Path, taxa: Mapping[str, str]
) -> Iterator[ForeignLabel]:
    yield ForeignLabel(
        path,
        (name,),
        source_id=taxa.get(name, ""),
        file=folder / _local(path),
        who=row.get("classifiedBy", ""),
        when=time_in(row.get("classificationTimestamp", "")),
        is_machine=row.get("classificationMethod") == "machine",
    )
