"""Writer of Camtrap DP 1.0, the exchange format of camera traps (Agouti, TRAPPER, GBIF).

The standard requires a deployment with coordinates and a time of each image. A folder counts as a
deployment; what photos lack is stated in `deploymentComments`, `mediaComments` and
`coordinateUncertainty`. A file is a medium, and each image of it, whole or a box, has one
observation: the person's, else the model's, else the detector's. `images.csv` has the rest.
"""

import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from engine.files import PhotoDetails, shown
from engine.image_fields import STANDARD_VALUES
from engine.interchange.labelled_images import csv_table
from engine.interchange.labelled_images.camtrap_dp_package import (
    BOX_COLUMNS,
    PACKAGE,
    TABLES,
    UNCLASSIFIED,
    Deployment,
    class_tag,
    is_taxon,
    observed,
    package_json,
)
from engine.interchange.labelled_images.class_folders import IMAGES_TABLE, FolderOptions, file_in
from engine.interchange.labelled_images.records import LabelledImage, LabelledImages, WrittenExport
from engine.interchange.table_writer import write_table
from engine.new_file import text_into

CANNOT_CARRY = (
    (
        "each folder counts as a deployment; "
        "where its photos have no coordinates, the location is missing"
    ),
    "photos without a date get that of their file, those without a time zone UTC; comments say so",
    "fill in sampling design, capture method and licence (datapackage.json) before you publish",
    "the page or moment of a box is only in the extra table images.csv",
)
_ANYWHERE_M = 20_037_508  # half of the Earth's circumference, for unknown coordinates
_LEAST_UNCERTAINTY_M = 30  # accuracy of GPS; the standard requires at least one. Chosen.
_METRES_PER_DEGREE = 111_320  # of latitude
_EXIF_TAGS: Mapping[str, str] = {
    "lens": "LensModel",
    "exposure_s": "ExposureTime",
    "aperture": "FNumber",
    "iso": "ISO",
    "focal_length_mm": "FocalLength",
    "creator": "Artist",
    "copyright": "Copyright",
    "description": "ImageDescription",
}
"""Of further metadata, by name in `found_details.FIELDS`."""
_FORBIDDEN_STARTS = (".", "/", "~")  # with which `filePath` must not begin


@dataclass(frozen=True)
class _Shot:
    """An image with its metadata, or defaults."""

    image: LabelledImage
    deployment: str
    time: datetime  # with a time zone
    media_type: str
    comment: str
    exif: str = ""  # of the camera and the exposure, as JSON; "" for none


def write(images: LabelledImages, draft: Path, options: FolderOptions) -> WrittenExport:
    """Write the package's tables and their description; images are neither copied nor moved."""
    del options
    deployments: dict[str, Deployment] = {}
    shots = [_shot(images, image, deployments) for image in images.each()]
    events = _events(shots)
    media = {shot.image.path: shot.image.image_id for shot in reversed(shots)}
    divided = {shot.image.path for shot in shots if shot.image.part.text}
    rows: dict[str, Iterable[Mapping[str, str]]] = {
        "deployments": map(_deployment_row, deployments.values()),
        "media": (
            _media_row(each) for each in shots if media[each.image.path] == each.image.image_id
        ),
        "observations": (
            _observation_row(
                images, shot, media, events.get(shot.image.sequence, (shot.time, shot.time))
            )
            for shot in shots
            if shot.image.path not in divided or _is_observed(images, shot.image)
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


def _shot(
    images: LabelledImages, image: LabelledImage, deployments: dict[str, Deployment]
) -> _Shot:
    facts = images.facts_of(image)
    parent = shown(str(PurePosixPath(image.path).parent))
    name = images.title if parent in {".", "/"} else parent
    deployment = deployments.setdefault(name, Deployment(name))
    time, comment = _time(images, image, facts)
    deployment.add_time(time, is_of_camera=facts.taken_at is not None)
    deployment.has_doubtful_times |= bool(comment)
    if facts.camera or facts.serial:
        deployment.cameras.add((facts.camera, facts.serial))
    if facts.latitude is not None and facts.longitude is not None:
        deployment.places.append((facts.latitude, facts.longitude))
    is_known = facts.media_type.startswith(("image/", "video/"))
    media_type = (
        facts.media_type
        if is_known
        else f"image/x-{image.file.suffix.lstrip('.').casefold() or 'unknown'}"
    )
    return _Shot(image, name, time, media_type, comment, _exif(facts))


def _exif(facts: PhotoDetails) -> str:
    """Camera and exposure by names of EXIF, as in the example of the standard."""
    found = {"Model": facts.camera, "SerialNumber": facts.serial}
    found |= {tag: facts.fields.get(name, "") for name, tag in _EXIF_TAGS.items()}
    known = {tag: text for tag, text in found.items() if text}
    return json.dumps({"EXIF": known}, ensure_ascii=False) if known else ""


def _time(
    images: LabelledImages, image: LabelledImage, facts: PhotoDetails
) -> tuple[datetime, str]:
    """The time of a photo, and a comment if it is not exact."""
    if facts.taken_at is not None and facts.taken_at.tzinfo is not None:
        return facts.taken_at, ""
    if facts.taken_at is not None:
        return facts.taken_at.replace(tzinfo=UTC), "the camera knew no time zone: UTC is put for it"
    if facts.taken_on:
        first_day = datetime.fromisoformat(f"{facts.taken_on}-01-01"[: len("1912-06-03")])
        return first_day.replace(
            tzinfo=UTC
        ), f"the photo has a date without a time: {facts.taken_on}"
    return _file_time(image.file) or images.made_at, "the photo has no time: this is the file's"


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
        "deploymentStart": _time_text(min(deployment.known_times)),
        "deploymentEnd": _time_text(max(deployment.known_times)),
        "cameraID": deployment.serial,
        "cameraModel": deployment.camera,
        "timestampIssues": "true" if deployment.has_doubtful_times else "false",
        "deploymentComments": _deployment_comments(deployment),
    }


def _deployment_comments(deployment: Deployment) -> str:
    """Facts without a column: a missing location, and several cameras in one folder."""
    parts = [] if deployment.places else ["Location missing: 0, 0 stands for anywhere on Earth."]
    if len(deployment.cameras) > 1:
        pairs = sorted(deployment.cameras)
        names = (
            " ".join(filter(None, (camera, serial and f"({serial})"))) for camera, serial in pairs
        )
        parts.append(f"Cameras: {'; '.join(names)}.")
    return " ".join(parts)


def _media_row(shot: _Shot) -> dict[str, str]:
    return {
        "mediaID": str(shot.image.image_id),
        "deploymentID": shot.deployment,
        "timestamp": _time_text(shot.time),
        "filePath": _file_path(shot.image),
        "filePublic": "false",
        "fileName": shown(shot.image.file.name),
        "fileMediatype": shot.media_type,
        "exifData": shot.exif,
        "mediaComments": shot.comment,
    }


def _events(shots: Iterable[_Shot]) -> dict[str, tuple[datetime, datetime]]:
    """First and last time of each sequence of images."""
    times: dict[str, list[datetime]] = {}
    for shot in shots:
        if shot.image.sequence:
            times.setdefault(shot.image.sequence, []).append(shot.time)
    return {name: (min(each), max(each)) for name, each in times.items()}


def _observation_row(
    images: LabelledImages, shot: _Shot, media: Mapping[str, int], event: tuple[datetime, datetime]
) -> dict[str, str]:
    image = shot.image
    kind, name = observed(images, image)
    observation = {
        "observationID": str(image.image_id),
        "deploymentID": shot.deployment,
        "mediaID": str(media[image.path]),
        "eventID": image.sequence,
        "eventStart": _time_text(event[0]),
        "eventEnd": _time_text(event[1]),
        "observationLevel": "media",
        "observationType": kind,
        "scientificName": name if is_taxon(kind, name) else "",
        "observationTags": class_tag(name) if name and not is_taxon(kind, name) else "",
        **_thing_cells(image),
    }
    method, who, when, score = "machine", "", "", image.detection_score
    if image.label is not None:
        method, who, when, score = "human", image.label.who, _time_text(image.label.when), None
    elif image.class_id is not None or image.is_of_none:
        who, when, score = images.model_text, _time_text(images.made_at), image.score
    elif score is None:
        return observation
    return observation | {
        "classificationMethod": method,
        "classifiedBy": who,
        "classificationTimestamp": when,
        "classificationProbability": "" if score is None else f"{score:.6f}",
    }


def _is_observed(images: LabelledImages, image: LabelledImage) -> bool:
    """Whether an image is classified, or a part of its file."""
    return bool(image.part.text) or observed(images, image) != UNCLASSIFIED


def _thing_cells(image: LabelledImage) -> dict[str, str]:
    """Box, count and custom fields of an image."""
    seen = image.facts
    count = 1 if image.count is None and image.part.box is not None else image.count
    box = image.part.box or ()
    standard: dict[str, str] = {}
    odd: list[str] = []
    for term, values in STANDARD_VALUES.items():
        value = seen.get(term, "")
        standard[term] = value.casefold() if value.casefold() in values else ""
        if value and not standard[term]:
            odd.append(f"{term}: {value}")
    return {
        **{column: f"{share:.7f}" for column, share in zip(BOX_COLUMNS, box, strict=False)},
        "count": str(count) if count else "",
        **standard,
        "behavior": seen.get("behavior", ""),
        "observationComments": "; ".join(odd),
    }


def _file_path(image: LabelledImage) -> str:
    """The path of an image, or its URL; the standard forbids ".." and a leading "/"."""
    if (
        not image.path.startswith(_FORBIDDEN_STARTS)
        and ".." not in image.path
        and image.path.isprintable()
    ):
        return image.path
    file = quote(os.fsencode(image.file.absolute().as_posix()), safe="/:")
    return "file://" + ("" if file.startswith("/") else "/") + file.replace("..", "%2E%2E")


def _middle(places: list[tuple[float, float]]) -> tuple[float, float, int]:
    """Mean of coordinates, and the distance to the farthest in metres."""
    if not places:
        return 0, 0, _ANYWHERE_M
    latitude = sum(place[0] for place in places) / len(places)
    longitude = sum(place[1] for place in places) / len(places)
    shrink = math.cos(math.radians(latitude))
    farthest = max(
        math.hypot(place[0] - latitude, (place[1] - longitude) * shrink) for place in places
    )
    return latitude, longitude, max(_LEAST_UNCERTAINTY_M, math.ceil(farthest * _METRES_PER_DEGREE))


def _time_text(time: datetime) -> str:
    return time.isoformat(timespec="seconds")
