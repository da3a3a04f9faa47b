"""Copies of one project by two people, and an unrelated project of the same images."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from engine.project import ImageId, Project
from engine.project.clock import now_text
from engine.project.records import FileChange
from tests.support.projects import OPENED, bird_project, found_files, new_project

CONTENT_BYTES = 32


def content(number: int) -> bytes:
    """Content hash of a fictitious photo."""
    return number.to_bytes(CONTENT_BYTES, "big")


def read(project: Project, numbers: Iterable[int] | None = None) -> None:
    """Record content hashes of all images, by default different ones by position."""
    ids = project.images.table().ids
    places = range(1, len(ids) + 1) if numbers is None else numbers
    project.images.record_scan(
        (image_id, content(place), None) for image_id, place in zip(ids, places, strict=True)
    )


def copied(project: Project, folder: Path) -> Project:
    """A copy of an open project in another folder, open for writing."""
    folder.mkdir()
    shutil.copyfile(project.path, folder / project.path.name)
    return opened(folder / project.path.name)


def opened(path: Path) -> Project:
    """A project, open for writing until the test ends."""
    project = Project.open(path, is_backed_up=False)
    OPENED.add(project)
    return project


def two_copies(folder: Path, images: int = 12) -> tuple[Project, Project]:
    """Ada's project with Gull (2) under Bird (1), images 1 and 2 as Gull, and Ben's copy."""
    ada, gull, ids = bird_project(folder, images)
    read(ada)
    ada.labels.set(ids[:2], gull, who="ada")
    return ada, copied(ada, folder / "ben")


def stranger(folder: Path, images: int = 12) -> Project:
    """An unrelated project of the same photos in another folder, with classes of its own."""
    folder.mkdir()
    project = new_project(folder, "other.protoleaf")
    project.images.add(found_files(folder / "DCIM", images))
    read(project)
    return project


def replace_photo(project: Project, image_id: ImageId) -> None:
    """Record another photo at an image's path, so that its label is outdated."""
    project.images.record_scan([(image_id, content(90 + image_id), None)])
    project.file_changes.record([FileChange(image_id, 7, 1, content(image_id), now_text())])


def labels_of(project: Project) -> dict[ImageId, tuple[str, str]]:
    """Class path, or "" for none of the classes, and author, by image."""
    graph = project.classes.graph
    return {
        each.image_id: ("" if each.class_id is None else graph.path_text(each.class_id), each.who)
        for each in project.labels.by_image().values()
    }
