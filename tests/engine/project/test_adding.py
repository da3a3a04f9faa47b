"""Adding many images: progress, and cancelling without a change."""

from pathlib import Path

import pytest

from engine import events
from engine.errors import Cancelled
from engine.events import CancelToken, Progress
from engine.project import Project
from engine.project import images as project_images
from tests.support.backups import labelled_birds
from tests.support.projects import connection_of, dump, found_files

AT_ONCE = 10


@pytest.fixture
def birds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A closed project; images are added in small batches, and the reports of progress."""
    monkeypatch.setattr(events, "PROGRESS_INTERVAL_S", 0.0)
    monkeypatch.setattr(project_images, "_CHANGED_AT_ONCE", AT_ONCE)
    project, *_ = labelled_birds(tmp_path)
    project.close()
    return project.path


def test_a_stop_in_the_middle_leaves_every_byte(birds: Path, tmp_path: Path) -> None:
    """Also if SQLite has written pages to the file."""
    Project.open(birds, is_backed_up=False).close()
    before, cancel = birds.read_bytes(), CancelToken()

    def stop_in_the_middle(progress: Progress) -> None:
        if progress.done > progress.total / 2:
            cancel.cancel()

    files = found_files(tmp_path / "more", 100 * AT_ONCE)
    with Project.open(birds, is_backed_up=False) as project:
        rows = dump(project)
        connection_of(project).value(
            "PRAGMA cache_size = 1"
        )  # so that SQLite writes before the commit
        with pytest.raises(Cancelled):
            project.images.add_labelled(
                files, [2] * len(files), on_progress=stop_in_the_middle, cancel=cancel
            )
        assert dump(project) == rows
    assert birds.read_bytes() == before


def test_progress_reaches_the_number_of_images(birds: Path, tmp_path: Path) -> None:
    """Known images and duplicates count, too."""
    seen: list[Progress] = []
    new = found_files(tmp_path / "more", 3 * AT_ONCE)
    with Project.open(birds, is_backed_up=False) as project:
        change = project.images.add_labelled(
            [*new, *new], [None] * len(new) + [2] * len(new), on_progress=seen.append
        )
        assert change.images_added == change.labelled
        assert len(change.labelled) == len(new)
        assert project.check() == []
    assert [(each.done, each.total) for each in seen] == [
        (AT_ONCE * part, 2 * len(new)) for part in range(7)
    ]
