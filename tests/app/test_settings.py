"""What the window remembers between two runs."""

from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QSettings

from app.settings import RECENT_LIMIT, ZOOM_DEFAULT, Settings


def store(folder: Path) -> QSettings:
    """The same file each time."""
    return QSettings(str(folder / "own.ini"), QSettings.Format.IniFormat)


def reopened(settings: Settings, folder: Path) -> Settings:
    """The settings as the next run finds them."""
    settings._store.sync()
    return Settings(store(folder))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of a first run."""
    return Settings(store(tmp_path))


def test_a_first_run_has_defaults(settings: Settings) -> None:
    """Nothing recent, nothing remembered."""
    assert settings.recent_projects() == []
    assert (settings.zoom, settings.order) == (ZOOM_DEFAULT, "")
    assert settings.geometry.isEmpty()
    assert settings.panes.isEmpty()


def test_recent_projects_are_few_and_the_latest_is_first(settings: Settings, tmp_path: Path) -> None:
    """Each once, the oldest drop out, one can be forgotten; names in any script survive."""
    paths = [Path(f"/projects/叶 {number}.protoleaf") for number in range(RECENT_LIMIT + 3)]
    for path in paths:
        settings.remember_project(path)
    settings.remember_project(paths[5])
    found = reopened(settings, tmp_path).recent_projects()
    assert found[0] == paths[5]
    assert found[1] == paths[-1]
    assert len(found) == len(set(found)) == RECENT_LIMIT
    settings.forget_project(paths[5])
    assert paths[5] not in settings.recent_projects()


def test_a_single_recent_project_survives(settings: Settings, tmp_path: Path) -> None:
    """An INI file stores a list of one as a plain text."""
    settings.remember_project(Path("/projects/a, b.protoleaf"))
    assert reopened(settings, tmp_path).recent_projects() == [Path("/projects/a, b.protoleaf")]


def test_window_and_grid_survive(settings: Settings, tmp_path: Path) -> None:
    """Geometry, panes, zoom and order."""
    settings.geometry, settings.panes = QByteArray(b"\x01\x02"), QByteArray(b"\x03")
    settings.zoom, settings.order = 240, "class"
    found = reopened(settings, tmp_path)
    assert (found.geometry, found.panes) == (QByteArray(b"\x01\x02"), QByteArray(b"\x03"))
    assert (found.zoom, found.order) == (240, "class")


def test_nonsense_in_the_file_is_ignored(tmp_path: Path) -> None:
    """A file somebody edited by hand never keeps the window from starting."""
    (tmp_path / "own.ini").write_text(
        "[General]\nrecent_projects=7\n[grid]\nzoom=large\norder=\n[window]\ngeometry=hello\n", encoding="utf-8"
    )
    found = Settings(store(tmp_path))
    assert found.zoom == ZOOM_DEFAULT
    assert found.geometry.isEmpty()
    assert found.order == ""
    assert len(found.recent_projects()) <= 1
