"""Frames of videos chosen by `import-images`."""

from pathlib import Path

import pytest

from tests.support.command_line import done, refused
from tests.support.projects import new_project
from tests.support.videos import numbered, write_video

pytest.importorskip("av")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    with new_project(tmp_path) as project:
        return project.path


@pytest.mark.parametrize(("frames", "count"), [("2", 2), ("1", 4), ("changes", 2)])
def test_frames(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], frames: str, count: int
) -> None:
    """A video of four seconds with a change in the middle."""
    clip = write_video(tmp_path / "clip.mp4", pictures=[numbered(0)] * 60 + [numbered(255)] * 60)
    fields = done(capsys, "import-images", project, clip, "--frames", frames, "--json").fields
    assert fields["added"] == count


@pytest.mark.parametrize("text", ["0", "nan", "-1", "1e9", "often"])
def test_no_time(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    error = refused(capsys, "import-images", project, tmp_path, f"--frames={text}", status=2)
    assert "--frames is not a time between frames" in error
