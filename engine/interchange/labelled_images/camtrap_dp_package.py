"""`datapackage.json` of a Camtrap DP 1.0, and the columns of its three tables."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from engine.interchange.labelled_images.class_folders import IMAGES_TABLE
from engine.interchange.labelled_images.csv_table import PLACED_COLUMNS
from engine.interchange.labelled_images.darwin_core_archive import permanent_id
from engine.interchange.labelled_images.records import LabelledImage, LabelledImages
from engine.interchange.text_file import words

VERSION = "1.0.2"
_STANDARD = f"https://raw.githubusercontent.com/tdwg/camtrap-dp/{VERSION}"
PACKAGE = "datapackage.json"

DEPLOYMENTS = words(
    "deploymentID locationID locationName latitude longitude coordinateUncertainty "
    "deploymentStart deploymentEnd setupBy cameraID cameraModel cameraDelay cameraHeight "
    "cameraDepth cameraTilt cameraHeading detectionDistance timestampIssues baitUse "
    "featureType habitat deploymentGroups deploymentTags deploymentComments"
)
MEDIA = words(
    "mediaID deploymentID captureMethod timestamp filePath filePublic fileName fileMediatype "
    "exifData favorite mediaComments"
)
OBSERVATIONS = words(
    "observationID deploymentID mediaID eventID eventStart eventEnd observationLevel "
    "observationType cameraSetupType scientificName count lifeStage sex behavior individualID "
    "individualPositionRadius individualPositionAngle individualSpeed bboxX bboxY bboxWidth "
    "bboxHeight classificationMethod classifiedBy classificationTimestamp "
    "classificationProbability observationTags observationComments"
)
BOX_COLUMNS = ("bboxX", "bboxY", "bboxWidth", "bboxHeight")
TABLES: Mapping[str, Sequence[str]] = {
    "deployments": DEPLOYMENTS,
    "media": MEDIA,
    "observations": OBSERVATIONS,
}
_CAVEATS = (
    "Deployments are folders. A collection does not know the cameras: sampling design and capture "
    "method are placeholders, and so are places and times where the comments say so."
)
_TYPES: Mapping[str, frozenset[str]] = {
    "human": frozenset({"human", "humans", "person", "people", "homo sapiens"}),
    "vehicle": frozenset({"vehicle", "vehicles", "motor vehicle", "car", "cars"}),
    "blank": frozenset(
        {"blank", "blanks", "empty", "nothing", "no animal", "false trigger", "misfire"}
    ),
    "unknown": frozenset({"unknown", "unidentified"}),
    "unclassified": frozenset({"unclassified", "not classified"}),
}
"""Names of classes that the standard has observation types for."""
UNCLASSIFIED = "unclassified", ""
"""The type and class of an unclassified image."""
_KINDS = {"animal": "animal", "person": "human", "human": "human", "vehicle": "vehicle"}
"""Observation types by detector category."""
NOT_CLASSIFIED = frozenset({"", "unknown", "unclassified"})
_HUMAN_TAXON = "homo sapiens"
_CLASS_TAG = "class:"  # prefix of the name of a class that is not a taxon
_WORLD = (-180.0, -90.0, 180.0, 90.0)  # west, south, east, north in degrees


@dataclass
class Deployment:
    """Images of one folder, taken as those of one camera at one place."""

    name: str  # the folder, and the deployment's id
    times: list[datetime] = field(default_factory=list)  # of its images, by their cameras
    other_times: list[datetime] = field(default_factory=list)  # of files, and of plain dates
    cameras: set[tuple[str, str]] = field(default_factory=set)  # model and serial number
    places: list[tuple[float, float]] = field(default_factory=list)  # latitude, longitude
    has_doubtful_times: bool = False  # whether images lack a time, or its time zone

    def add_time(self, time: datetime, *, is_of_camera: bool) -> None:
        """Add the time of an image."""
        (self.times if is_of_camera else self.other_times).append(time)

    @property
    def known_times(self) -> list[datetime]:
        """Times by cameras, from which effort is computed; other times if there are none."""
        return self.times or self.other_times

    @property
    def camera(self) -> str:
        """Make and model if it is the same for all images; else ""."""
        return _only({camera for camera, _ in self.cameras})

    @property
    def serial(self) -> str:
        """Serial number if it is the same for all images; else ""."""
        return _only({serial for _, serial in self.cameras})


def _only(names: set[str]) -> str:
    return next(iter(names)) if len(names) == 1 else ""


def observed(images: LabelledImages, image: LabelledImage) -> tuple[str, str]:
    """Observation type of an image, and the name of its class; "" without one."""
    if image.class_id is None:
        if image.is_empty:
            return "blank", ""
        kind = _KINDS.get(image.category.casefold(), "unclassified")
        return ("unknown" if image.is_of_none else kind), ""
    names = {name.casefold() for path in images.paths(image.class_id) for name in path}
    names.update(map(str.casefold, images.graph.attributes(image.class_id).other_names))
    kind = next((kind for kind, words in _TYPES.items() if words & names), "animal")
    return kind, images.graph.name(image.class_id)


def is_taxon(kind: str, name: str) -> bool:
    """Whether the class of an observation of a type is one; of people only their species is."""
    return kind == "animal" or (kind == "human" and name.casefold() == _HUMAN_TAXON)


def class_tag(name: str) -> str:
    """The tag for the name of a class that is not a taxon."""
    return _CLASS_TAG + name.replace("|", "/")


def tagged_class(tags: str) -> str:
    """The class in the tags of an observation; "" for none."""
    parts = (tag.strip() for tag in tags.split("|"))
    return next(
        (tag.removeprefix(_CLASS_TAG).strip() for tag in parts if tag.startswith(_CLASS_TAG)), ""
    )


def package_json(images: LabelledImages, deployments: Iterable[Deployment]) -> bytes:
    """The package's description; unknown facts are placeholders, which it mentions."""
    known = list(deployments)
    times = [time for each in known for time in each.times]
    times = times or [time for each in known for time in each.other_times] or [images.made_at]
    own_table = _resource("images") | {  # what the standard has no column for
        "path": IMAGES_TABLE,
        "schema": {"fields": [{"name": name, "type": "string"} for name in PLACED_COLUMNS]},
    }
    count, program = len(images.images), images.program
    about = f"{count:,} images of the collection {images.title}, written by {program}"
    people = [{"title": name, "role": "contributor"} for name in images.people]
    package = {
        "profile": f"{_STANDARD}/camtrap-dp-profile.json",
        "name": re.sub(r"[^a-z0-9._-]+", "-", images.title.casefold()).strip("-.") or "collection",
        "id": permanent_id(images.title).urn,
        "created": images.made_at.astimezone(UTC).isoformat(timespec="seconds"),
        "title": images.title,
        "description": f"{about}. {_CAVEATS}",
        "contributors": people or [{"title": images.program}],
        "sources": [{"title": images.model_text}],
        "project": {
            "title": images.title,
            "samplingDesign": "opportunistic",
            "captureMethod": ["activityDetection"],
            "individualAnimals": False,
            "observationLevel": ["media"],
        },
        "spatial": _area([place for each in known for place in each.places]),
        "temporal": {"start": min(times).date().isoformat(), "end": max(times).date().isoformat()},
        "taxonomic": _taxa(images),
        "resources": [*map(_resource, TABLES), own_table],
    }
    return json.dumps(package, ensure_ascii=False, indent=2).encode()


def _taxa(images: LabelledImages) -> list[dict[str, str]]:
    """Each name of the observations once; classes of the same name share a row without an id."""
    taxa: dict[str, dict[str, str]] = {}
    observations = (observed(images, image) for image in images.images)
    names = {name for kind, name in observations if is_taxon(kind, name)}
    for class_id in images.used_classes:
        if images.graph.name(class_id) not in names:
            continue
        attributes, name = images.graph.attributes(class_id), images.graph.name(class_id)
        facts = (
            {} if name in taxa else {"taxonID": attributes.source_id, "taxonRank": attributes.rank}
        )
        taxa[name] = {
            "scientificName": name,
            **{term: text for term, text in facts.items() if text},
        }
    return list(taxa.values())


def _resource(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "path": f"{name}.csv",
        "profile": "tabular-data-resource",
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "schema": f"{_STANDARD}/{name}-table-schema.json",
    }


def _area(places: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Bounding box of places as GeoJSON; the world without places."""
    west, south, east, north = _WORLD
    if places:
        latitudes, longitudes = zip(*places, strict=True)
        west, south, east, north = min(longitudes), min(latitudes), max(longitudes), max(latitudes)
    corners = [(west, south), (east, south), (east, north), (west, north), (west, south)]
    return {
        "type": "Polygon",
        "bbox": [west, south, east, north],
        "coordinates": [[list(corner) for corner in corners]],
    }
