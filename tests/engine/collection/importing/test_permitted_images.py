"""Files named in a list become images only if they are ordinary images in a permitted place."""

import os
from pathlib import Path

import pytest

from engine.collection.importing.match_images import ELSEWHERE, NO_FILE, NO_IMAGE, PermittedImages
from engine.files import FoundFile
from engine.project import Project
from tests.support.command_line import done
from tests.support.images import encoded, picture
from tests.support.projects import new_project


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """A folder with the only photo of a project."""
    folder = tmp_path / "photos"
    (folder / "below").mkdir(parents=True)
    for name in ("own.png", "below/other.png"):
        (folder / name).write_bytes(encoded(picture(8, 8), "PNG"))
    return folder


@pytest.fixture
def project(tmp_path: Path, photos: Path) -> Project:
    """A project of one image."""
    made = new_project(tmp_path)
    found = FoundFile.at(photos / "own.png")
    assert found is not None
    made.images.add([found])
    return made


def test_where_images_may_lie(project: Project, photos: Path, tmp_path: Path) -> None:
    """Below the list, the project's images, or a permitted folder; nowhere else."""
    places = {name: tmp_path / name / "a.png" for name in ("list", "named", "elsewhere")}
    for place in places.values():
        place.parent.mkdir()
        place.write_bytes(encoded(picture(8, 8), "PNG"))
    with project:
        permitted = PermittedImages(project, tmp_path / "list" / "labels.csv", [tmp_path / "named"])
        assert permitted.refusal(places["list"]) == ""
        assert permitted.refusal(photos / "below" / "other.png") == ""
        assert permitted.refusal(places["named"]) == ""
        assert permitted.refusal(places["elsewhere"]) == ELSEWHERE
        link = tmp_path / "list" / "link.png"
        link.symlink_to(places["elsewhere"])
        assert permitted.refusal(link) == ELSEWHERE


@pytest.mark.skipif(os.name != "posix", reason="special files of POSIX")
def test_what_is_no_image(project: Project, tmp_path: Path) -> None:
    """Pipes and devices are never opened; a text file is refused whatever its extension."""
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "zero.png").symlink_to("/dev/zero")
    (tmp_path / "text.png").write_text("root:x:0:0", encoding="utf-8")
    (tmp_path / "passwd").write_text("root:x:0:0", encoding="utf-8")
    with project:
        permitted = PermittedImages(project, tmp_path)
        for name in ("pipe.png", "zero.png", "nowhere.png"):
            assert permitted.refusal(tmp_path / name) == NO_FILE
        for name in ("text.png", "passwd"):
            assert permitted.refusal(tmp_path / name).startswith(NO_IMAGE.partition(";")[0])


@pytest.mark.slow
def test_a_list_adds_no_other_file(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`import-labels --add-images` lists skipped files; `--images-from` permits a folder."""
    elsewhere = tmp_path / "elsewhere" / "a.png"
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(encoded(picture(8, 8), "PNG"))
    with project:
        path = project.path
    (tmp_path / "lists").mkdir()
    source = tmp_path / "lists" / "labels.csv"
    source.write_text(f"image,class\n{elsewhere},Gull\n/etc/hostname,Gull\n", encoding="utf-8")
    words = ("import-labels", path, source, "--add-classes", "--add-images", "--json")
    dry = done(capsys, *words, "--dry-run").fields
    fields = done(capsys, *words).fields
    assert fields["images_added"] == dry["images_added"] == 0
    assert fields["problems"] == dry["problems"]
    assert sum("was not added" in line for line in fields["problems"]) == 2
    permitted = (*words, "--images-from", elsewhere.parent)
    assert done(capsys, *permitted, "--dry-run").fields["images_added"] == 1
    assert done(capsys, *permitted).fields["images_added"] == 1
