"""The progress of a project, read from its file."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.errors import ProjectDamagedError, ProjectMissingError
from engine.files import FoundFile
from engine.project.overview import MOST_FACES, read_overview
from tests.support.eleventh_version import write_eleventh_version
from tests.support.projects import new_project


def test_images_and_labels_are_counted(tmp_path: Path) -> None:
    """The latest labelled image first; the file is unchanged, also while it is open."""
    with new_project(tmp_path) as project:
        files = [
            FoundFile(tmp_path / f"{number}.jpg", 10 + number, 20)
            for number in range(3 * MOST_FACES)
        ]
        ids = project.images.add(files).images_added
        _, fox = project.classes.add("Fox")
        path = project.path
        assert [face.path.name for face in read_overview(path).faces[:2]] == ["0.jpg", "1.jpg"]
        project.labels.set([ids[7]], fox)
        before = path.read_bytes()
        found = read_overview(path)
        assert path.read_bytes() == before
    assert (found.images, found.labelled) == (3 * MOST_FACES, 1)
    (face,) = found.faces
    assert (face.path, face.part, face.size_bytes, face.modified_ns) == (
        tmp_path / "7.jpg",
        "",
        17,
        20,
    )
    assert abs((datetime.now(UTC) - found.changed_at).total_seconds()) < 600


def test_a_project_of_an_older_version(tmp_path: Path) -> None:
    """Without parts of files, and without migration."""
    path = tmp_path / "old.protoleaf"
    write_eleventh_version(path)
    before = path.read_bytes()
    found = read_overview(path)
    assert found.images > 0
    assert found.faces
    assert path.read_bytes() == before


def test_a_file_that_is_no_project(tmp_path: Path) -> None:
    """A missing or other file."""
    with pytest.raises(ProjectMissingError):
        read_overview(tmp_path / "gone.protoleaf")
    (tmp_path / "text.protoleaf").write_text("no project")
    with pytest.raises(ProjectDamagedError):
        read_overview(tmp_path / "text.protoleaf")
