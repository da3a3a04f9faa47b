"""Frames of animations become images; an animation that was one image keeps its label."""

from pathlib import Path

import pytest

from engine.collection.importing.import_images import import_images
from engine.files import FoundFile
from engine.project import Project
from tests.support.animations import write_animation
from tests.support.images import write_jpeg
from tests.support.projects import new_project


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An animation of five seconds, a still GIF, a damaged animation, and a photo."""
    (tmp_path / "card").mkdir()
    write_animation(tmp_path / "card" / "fox.gif", [500] * 10)
    write_animation(tmp_path / "card" / "still.gif", [500])
    damaged = write_animation(tmp_path / "card" / "damaged.webp", [500] * 10)
    damaged.write_bytes(damaged.read_bytes()[:-100])
    write_jpeg(tmp_path / "card" / "photo.jpg")
    return tmp_path / "card"


def images(project: Project) -> list[tuple[str, str]]:
    """Files and parts, in the order of their ids."""
    return [(Path(record.path).name, record.part) for record in project.images.records()]


def test_a_folder_with_animations(folder: Path, tmp_path: Path) -> None:
    """Unreadable files are added as one image, which fails at embedding; a rescan adds nothing."""
    with new_project(tmp_path) as project:
        assert import_images(project, [folder]).failures == ()
        assert images(project) == [
            *(("damaged.webp", ""), ("fox.gif", "t=0"), ("fox.gif", "t=2"), ("fox.gif", "t=4")),
            *(("photo.jpg", ""), ("still.gif", "")),
        ]
        again = import_images(project, [folder])
        assert (again.added, again.already_there) == (0, 6)


def test_an_animation_that_was_an_image_before(folder: Path, tmp_path: Path) -> None:
    """It keeps its label, and its frames are added without labels."""
    found = FoundFile.at(folder / "fox.gif")
    assert found is not None
    with new_project(tmp_path) as project:
        _, fox = project.classes.add("Fox")
        (before,) = project.images.add_labelled([found], [fox]).images_added
        import_images(project, [folder])
        assert images(project)[0] == ("fox.gif", "")
        assert {part for name, part in images(project) if name == "fox.gif"} == {
            "",
            "t=0",
            "t=2",
            "t=4",
        }
        assert {
            image_id: label.class_id for image_id, label in project.labels.by_image().items()
        } == {before: fox}
