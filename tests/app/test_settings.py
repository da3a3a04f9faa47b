"""Settings that are stored between runs."""

from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QSettings

from app.settings import ACCEPT_ABOVE_MOST, PANES_DEFAULT, RECENT_LIMIT, ZOOM_DEFAULT, Settings
from engine.runtime.devices.facts import devices_of


def store(folder: Path) -> QSettings:
    """The same file each time."""
    return QSettings(str(folder / "own.ini"), QSettings.Format.IniFormat)


def reopened(settings: Settings, folder: Path) -> Settings:
    """The settings in the next run."""
    settings.store.sync()  # as at the end of the program
    return Settings(store(folder))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of a first run."""
    return Settings(store(tmp_path))


def test_a_first_run_has_defaults(settings: Settings) -> None:
    """No recent projects and no stored values."""
    assert settings.recent_projects() == []
    assert (settings.zoom, settings.order_of("a"), settings.device) == (ZOOM_DEFAULT, "", "auto")
    assert settings.geometry.isEmpty()
    assert settings.pane_widths == PANES_DEFAULT
    assert (settings.scheme, settings.opens_last_project) == ("", False)


def test_recent_projects_are_few_and_the_latest_is_first(
    settings: Settings, tmp_path: Path
) -> None:
    """Each once, the oldest drop out, one can be removed; names in any script are stored."""
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
    """An INI file stores a list with one item as plain text."""
    settings.remember_project(Path("/projects/a, b.protoleaf"))
    assert reopened(settings, tmp_path).recent_projects() == [Path("/projects/a, b.protoleaf")]


def test_window_and_grid_survive(settings: Settings, tmp_path: Path) -> None:
    """Geometry, panes, zoom, colour scheme, and the threshold of accepting many are stored."""
    settings.geometry, settings.pane_widths = QByteArray(b"\x01\x02"), (240, 400)
    settings.scheme, settings.opens_last_project = "dark", True
    settings.zoom, settings.accept_above = 240, 95
    found = reopened(settings, tmp_path)
    assert (found.geometry, found.pane_widths) == (QByteArray(b"\x01\x02"), (240, 400))
    assert (found.scheme, found.opens_last_project) == ("dark", True)
    assert found.zoom == 240
    assert found.accept_above == 95


def test_each_project_has_its_order(settings: Settings, tmp_path: Path) -> None:
    """The last one counts; projects are independent."""
    for project_id, order in (("a", "class"), ("b", "added"), ("a", "surest_first")):
        settings.remember_order(project_id, order)
    found = reopened(settings, tmp_path)
    assert [found.order_of(each) for each in ("a", "b", "c")] == ["surest_first", "added", ""]


def test_the_device_survives_where_it_can_be_there(settings: Settings, tmp_path: Path) -> None:
    """A device that the platform does not have is ignored."""
    for device in devices_of():
        settings.device = device
        assert reopened(settings, tmp_path).device == device
    for device in ({"coreml", "directml"} - set(devices_of())) | {"toaster", ""}:
        settings.device = device
        assert reopened(settings, tmp_path).device == "auto"


def test_a_proxy_survives_without_its_password(settings: Settings, tmp_path: Path) -> None:
    """Host and user name; the password is not written, and "" means the system's proxy."""
    assert settings.proxy == ""
    settings.proxy = "http://anna:secret@proxy.example:3128"
    assert reopened(settings, tmp_path).proxy == "http://anna@proxy.example:3128"
    assert "secret" not in (tmp_path / "own.ini").read_text(encoding="utf-8")
    settings.proxy = ""
    assert reopened(settings, tmp_path).proxy == ""


def test_nonsense_in_the_file_is_ignored(tmp_path: Path) -> None:
    """A file with invalid values does not prevent the start."""
    (tmp_path / "own.ini").write_text(
        "[General]\nrecent_projects=7\n[grid]\nzoom=large\norders=7\n[window]\ngeometry=hello\n[review]\naccept_above=400\n",
        encoding="utf-8",
    )
    found = Settings(store(tmp_path))
    assert found.zoom == ZOOM_DEFAULT
    assert found.geometry.isEmpty()
    assert found.order_of("7") == ""
    assert found.accept_above == ACCEPT_ABOVE_MOST
    assert len(found.recent_projects()) <= 1
