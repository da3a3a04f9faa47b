"""What the files of a project say of themselves: stored, and read where it was not yet."""

from collections.abc import Iterable
from typing import Final

from engine.events import CancelToken, OnProgress, ignore_progress
from engine.images.details_messages import DetailsBatch, DetailsSummary, FileDetails, ReadDetails
from engine.project import Project
from engine.project.records import ImageDetails

IMAGES_AT_ONCE: Final = 5_000  # of one request: it is made in some milliseconds, so no thread waits


def as_stored(files: Iterable[FileDetails]) -> list[ImageDetails]:
    """Details as the project keeps them."""
    return [
        ImageDetails(
            file.image_id, file.modified_ns, file.details.width, file.details.height, file.details.taken_at,
            file.details.camera, file.details.latitude, file.details.longitude, file.details.fields,
        )
        for file in files
    ]  # fmt: skip


def details_to_read(
    project: Project, *, after: int = 0, done_before: int = 0, total: int = 0
) -> ReadDetails | None:
    """The next images whose details are not known; None where there are none.

    Args:
        after: only images with a higher id, as the others were requested already.
        done_before: images of the run that were requested already.
        total: images of the whole run; by default all whose details are not known.
    """
    missing, folder = project.details.missing(IMAGES_AT_ONCE, after=after), project.path.parent
    if not missing:
        return None
    images = tuple((image_id, folder / path) for image_id, path in missing)
    return ReadDetails(images, done_before, total or project.details.missing_count(after=after))


def read_missing_details(
    project: Project,
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> DetailsSummary:
    """Read the details of all images of which none are known, and store them.

    Raises:
        Cancelled: what was read is stored; the next run goes on from there.
    """
    from engine.images.details_reading import read_all_details

    def store(batch: DetailsBatch) -> None:
        project.details.store(as_stored(batch.files))

    missing, folder = project.details.missing(), project.path.parent
    images = ((image_id, folder / path) for image_id, path in missing)
    return read_all_details(
        images, store, total=len(missing), on_progress=on_progress, cancel=cancel
    )
