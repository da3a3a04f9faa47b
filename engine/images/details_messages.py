"""Image metadata and messages that carry it between processes; a light import."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from engine.worker.protocol import Request


@dataclass(frozen=True, slots=True)
class PhotoDetails:
    """Clean and bounded, whatever the file holds."""

    width: int = 0  # pixels as shown, turned upright; 0 where unknown
    height: int = 0
    taken_at: datetime | None = None  # by the camera's clock, mostly without a time zone
    camera: str = ""  # make and model
    latitude: float | None = None  # degrees (WGS 84), -90..90
    longitude: float | None = None  # degrees, -180..180
    # further ones by the names in `FIELDS`, of those that are there
    fields: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    media_type: str = ""  # such as "image/jpeg", by what the file holds; "" where unknown


@dataclass(frozen=True, slots=True)
class FileDetails:
    """Metadata of the file of an image when it was read."""

    image_id: int
    modified_ns: int  # of the file, since the epoch
    details: PhotoDetails


@dataclass(frozen=True)
class DetailsBatch:
    """Some files that were read."""

    files: tuple[FileDetails, ...]


@dataclass(frozen=True)
class DetailsSummary:
    """Counts of a run."""

    read: int
    missing: int  # files that are not there now
    seconds: float

    @property
    def files_per_s(self) -> float:
        return self.read / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True)
class ReadDetails(Request[DetailsSummary]):
    """Read the details of these images, each with its absolute path; they come in events alone."""

    event_types = (DetailsBatch,)

    images: tuple[tuple[int, Path], ...]
    # images of earlier requests of the same run; they count as done in the progress
    done_before: int = 0
    total: int = 0  # images of the whole run
