"""Metadata of photos for exports: stored in the project, else from the header of the file."""

import mimetypes
from collections.abc import Callable
from pathlib import Path

from engine.files import PhotoDetails
from engine.images.kinds import RAW_SUFFIXES
from engine.images.photo_facts import photo_facts
from engine.interchange.labelled_images.records import LabelledImage
from engine.project import Project
from engine.project.records import ImageDetails


def known_facts(project: Project) -> Callable[[LabelledImage], PhotoDetails]:
    """Metadata of an image, with corrected times; on the thread of the project."""
    in_header = project.clocks.corrected(photo_facts)

    def facts_of(image: LabelledImage) -> PhotoDetails:
        details = project.details.of(image.image_id)
        return (
            in_header(image.file)
            if details is None or not details.width
            else _facts(details, image.file)
        )

    return facts_of


def _facts(details: ImageDetails, file: Path) -> PhotoDetails:
    # the header of a RAW file has the size of the sensor or of a preview
    is_raw = file.suffix.casefold() in RAW_SUFFIXES
    return PhotoDetails(
        0 if is_raw else details.width,
        0 if is_raw else details.height,
        details.taken_at,
        details.camera,
        details.latitude,
        details.longitude,
        details.fields,
        mimetypes.guess_type(file.name)[0] or "application/octet-stream",
    )
