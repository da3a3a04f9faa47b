"""Image metadata and messages that carry it between processes; a light import."""

from dataclasses import dataclass
from pathlib import Path

from engine.files import PhotoDetails
from engine.worker.protocol import Request


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
