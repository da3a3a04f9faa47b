"""Read image metadata (EXIF, IPTC, XMP) of the files of a project, and store it."""

from collections.abc import Iterable

from engine.events import OnProgress, ignore_progress
from engine.images.details_messages import DetailsBatch, DetailsSummary, FileDetails, ReadDetails
from engine.project import Project
from engine.project.records import ImageDetails

IMAGES_AT_ONCE = 5_000  # of one request, so that it is made in some milliseconds


def as_stored(files: Iterable[FileDetails]) -> list[ImageDetails]:
    """Convert metadata for the project store."""
    return [
        ImageDetails(
            file.image_id,
            file.modified_ns,
            file.details.width,
            file.details.height,
            file.details.taken_at,
            file.details.camera,
            file.details.latitude,
            file.details.longitude,
            file.details.fields,
        )
        for file in files
    ]


def details_to_read(
    project: Project, *, after: int = 0, done_before: int = 0, total: int = 0
) -> ReadDetails | None:
    """Request the next images whose metadata was not read; None if there are none.

    Args:
        after: request only images with a higher id.
        done_before: images of the run that were requested before.
        total: images of the whole run; by default all without metadata.
    """
    missing, folder = project.details.missing(IMAGES_AT_ONCE, after=after), project.path.parent
    if not missing:
        return None
    images = tuple((image_id, folder / path) for image_id, path in missing)
    return ReadDetails(images, done_before, total or project.details.missing_count(after=after))


def read_missing_details(
    project: Project, *, on_progress: OnProgress = ignore_progress
) -> DetailsSummary:
    """Read and store the metadata of all images that have none."""
    from engine.images.details_reading import read_all_details

    def store(batch: DetailsBatch) -> None:
        project.details.store(as_stored(batch.files))

    missing, folder = project.details.missing(), project.path.parent
    images = ((image_id, folder / path) for image_id, path in missing)
    return read_all_details(images, store, total=len(missing), on_progress=on_progress)
