"""The main window: opening and closing, colour schemes, palettes, and screenshots."""

from itertools import product
from pathlib import Path
from string import digits

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QColor, QImage, QPalette
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.actions.keys_sheet import KeysSheet
from app.features import ACTIONS
from app.settings import Settings
from app.theme import set_scheme
from app.welcome.controller import Projects
from engine.collection.state import NO_CLASS
from research.window.screenshot import PICTURES, take_pictures, take_screenshots, wait_until
from tests.support.backbone_jobs import store_catalogue
from tests.support.collections import Collection, cache_of_test
from tests.support.desk import CONTROL, Desk
from tests.support.sessions import LONG_MS, changed_by, recorded

Key = Qt.Key


@pytest.mark.slow
def test_closing_and_reopening_keeps_labels_and_undo(
    qtbot: QtBot, reviewing: Desk, collection: Collection, settings: Settings
) -> None:
    """After a restart labels are there, and the last step can be undone."""
    image_id = reviewing.choose(0)
    reviewing.press_for_change(Key.Key_Return)
    label = reviewing.label_of(image_id)
    reviewing.press(Key.Key_W, CONTROL)
    reviewing.wait(reviewing.window.of(Projects).page.isVisible)
    reviewing.leave()
    next_day = Desk(qtbot, settings)
    assert settings.recent_projects() == [collection.project]
    with qtbot.waitSignal(next_day.window.session.loaded, timeout=LONG_MS):
        next_day.window.of(Projects).page.project_requested.emit(collection.project)
    assert next_day.label_of(image_id) == label
    assert next_day.window.registry.action("undo").text() == f"Undo Label 1 image as {label}"
    next_day.grid.setFocus()
    next_day.press_for_change(Key.Key_Z, CONTROL)
    assert next_day.label_of(image_id) == ""
    next_day.leave()


@pytest.mark.slow
def test_leaving_at_once_loses_nothing(
    qtbot: QtBot, reviewing: Desk, settings: Settings, collection: Collection
) -> None:
    """Closing the window right after a key saves the label."""
    image_id = reviewing.choose(0)
    reviewing.press(Key.Key_U)
    reviewing.leave()
    again = Desk(qtbot, settings)
    again.open(collection.project)
    assert again.label_of(image_id) == "?"
    again.leave()


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"my own notes", b"SQLite format 3\x00" + b"\x00" * 200, b""])
def test_a_wrong_file_is_a_sentence_and_the_window_stays(
    content: bytes, desk: Desk, tmp_path: Path
) -> None:
    """A file that is no project is unchanged, and the start page stays."""
    path = tmp_path / "notes.protoleaf"
    path.write_bytes(content)
    desk.drop_files(desk.window, [path])
    desk.wait(lambda: bool(desk.window.toast.message))
    assert "\n" not in desk.window.toast.message
    assert desk.window.of(Projects).page.isVisible()
    assert path.read_bytes() == content
    assert desk.window.settings.recent_projects() == []


@pytest.mark.slow
def test_a_wrong_file_leaves_the_open_project_in_use(reviewing: Desk, tmp_path: Path) -> None:
    """A failed open does not close the open project."""
    reviewing.window.session.open(tmp_path / "missing.protoleaf")
    reviewing.wait(lambda: "missing.protoleaf" in reviewing.window.toast.message)
    assert reviewing.window.windowTitle() == "shapes - Protoleaf"
    assert reviewing.grid.model().rowCount() == 40


@pytest.mark.slow
def test_a_project_dropped_on_the_window_is_opened(desk: Desk, collection: Collection) -> None:
    """A dropped project is opened also if another one is open."""
    with desk.qtbot.waitSignal(desk.window.session.loaded, timeout=LONG_MS):
        desk.drop_files(desk.window.of(Projects).page, [collection.project])
    other = collection.folder / "other.protoleaf"
    with desk.qtbot.waitSignal(desk.window.session.loaded, timeout=LONG_MS):
        desk.window.session.create(other)
    with desk.qtbot.waitSignal(desk.window.session.loaded, timeout=LONG_MS):
        desk.drop_files(desk.window, [collection.project])
    assert desk.window.windowTitle() == "shapes - Protoleaf"


@pytest.mark.slow
def test_a_read_only_project_can_be_looked_at(
    desk: Desk, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything is shown, nothing can be changed, and the window says so."""
    monkeypatch.setattr("engine.project.opening.os.access", lambda _path, _mode: False)
    desk.open(collection.project)
    assert (desk.state.best_class != NO_CLASS).all()
    desk.choose(0)
    changes, failed = (
        recorded(desk.window.session.change_made),
        recorded(desk.window.session.failed),
    )
    for key in (Key.Key_Return, Key.Key_U, Key.Key_1, Key.Key_Delete):
        desk.press(key)
    assert (changes, failed) == ([], [])
    assert "Read-only" in desk.window.status_line.saved_mark.text()
    for name in ("accept", "new_class", "add_images", "undo"):
        assert not desk.window.registry.action(name).isEnabled()


@pytest.mark.slow
def test_light_and_dark_dress_the_whole_window(reviewing: Desk, qapp: QApplication) -> None:
    """Background and text swap their lightness, and every pane is repainted."""
    grounds = {}
    for scheme in ("light", "dark", "light"):
        set_scheme(scheme)
        palette = qapp.palette()
        ground = palette.color(QPalette.ColorRole.Base).lightness()
        text = palette.color(QPalette.ColorRole.Text).lightness()
        assert (ground > text) == (scheme == "light")
        picture = reviewing.window.grab().toImage()
        for pane in (reviewing.window.tree, reviewing.grid, reviewing.window.inspector):
            corner = (
                pane.mapTo(reviewing.window, pane.rect().bottomRight()) * picture.devicePixelRatio()
            )
            colour = QColor(picture.pixel(round(corner.x()) - 30, round(corner.y()) - 6))
            assert (colour.lightness() > 128) == (scheme == "light"), (scheme, pane)
        grounds[scheme] = ground
    assert grounds["light"] != grounds["dark"]


@pytest.mark.slow
def test_the_command_palette_finds_actions_and_classes(reviewing: Desk) -> None:
    """Ctrl+K, a few letters, Enter: an action is triggered, a class is shown."""
    reviewing.choose(0)
    reviewing.press(Key.Key_K, CONTROL)
    rows = reviewing.type_into_palette("labelled im")
    assert rows[0].title == "Show: Labelled images"
    reviewing.press(Key.Key_Return)
    assert reviewing.grid.model().rowCount() == 24
    reviewing.press(Key.Key_K, CONTROL)
    reviewing.type_into_palette("blue stripes")
    reviewing.press(Key.Key_Return)
    assert reviewing.window.tree.selected_class == reviewing.graph.find("Blue stripes")
    reviewing.press(Key.Key_K, CONTROL)
    assert reviewing.window.palette_panel.isVisible()
    reviewing.press(Key.Key_Escape)
    assert not reviewing.window.palette_panel.isVisible()


@pytest.mark.slow
def test_a_palette_says_when_nothing_matches(reviewing: Desk) -> None:
    """A hint takes the place of the rows; Enter does nothing, and another text finds rows again."""
    palette = reviewing.window.palette_panel
    reviewing.press(Key.Key_K, CONTROL)
    assert "Nothing matches" not in shown_texts(palette)
    assert reviewing.type_into_palette("xyzzy") == []
    assert "Nothing matches" in shown_texts(palette)
    reviewing.press(Key.Key_Return)
    assert palette.isVisible()
    assert reviewing.type_into_palette("labelled im") != []
    assert "Nothing matches" not in shown_texts(palette)
    reviewing.press(Key.Key_Escape)


@pytest.mark.slow
def test_a_name_that_is_still_to_be_changed_matches_nothing_and_needs_not(reviewing: Desk) -> None:
    """F2 shows the current name and what Enter does, without an error, also for the same name."""
    reviewing.window.tree.select_class(reviewing.graph.find("Red disc"))
    reviewing.window.registry.trigger("rename_class")
    palette = reviewing.window.palette_panel
    for typed in ("", "Red ball", "Red disc"):
        rows = reviewing.type_into_palette(typed) if typed else palette.rows
        assert [row.title for row in rows] == (
            ["Rename to “Red ball”"] if typed == "Red ball" else []
        )
        assert "Nothing matches" not in shown_texts(palette)
        assert palette.footer_text.startswith("Enter: Rename to “Red ball”") == (
            typed == "Red ball"
        )
    reviewing.press(Key.Key_Escape)


def shown_texts(widget: QWidget) -> list[str]:
    """Visible labels."""
    return [label.text() for label in widget.findChildren(QLabel) if label.isVisible()]


@pytest.mark.slow
def test_the_command_palette_offers_only_what_can_be_done(desk: Desk) -> None:
    """Without a project, actions that need one are not offered."""
    desk.press(Key.Key_K, CONTROL)
    titles = {row.title for row in desk.type_into_palette("")}
    assert "Open project" in titles
    assert "Accept the most likely class" not in titles


@pytest.mark.slow
def test_the_keys_sheet_names_every_key(desk: Desk) -> None:
    """Each action with a key is listed, neighbouring digits in one line; Esc closes the sheet."""
    desk.press(Key.Key_Question)
    (sheet,) = desk.window.findChildren(KeysSheet)
    assert sheet.isVisible()
    texts = {label.text() for label in sheet.findChildren(QLabel)}
    titles = {
        row.title.replace("…", "")
        for row in ACTIONS
        if row.shortcuts and row.shortcuts[0][-1] not in digits
    }
    assert titles <= texts
    assert {
        "Label by rank",
        "1 \N{EN DASH} 9",
        "Rating",
        "Ctrl+1 \N{EN DASH} 5",
        "Alt+1 \N{EN DASH} 9",
        "Ctrl+6 \N{EN DASH} 9",
    } <= texts
    assert not any("9th" in text for text in texts)
    desk.window.resize(640, 600)  # some texts wrap to two lines
    QApplication.processEvents()
    labels = sheet.findChildren(QLabel)
    heights = [
        {each.height() for each in labels if each.property("role") == role}
        for role in ("key", "secondary")
    ]
    assert len(heights[0]) == 1 < len(heights[1])
    desk.press(Key.Key_Escape)
    assert not sheet.isVisible()


@pytest.mark.slow
def test_every_action_has_text_icon_and_a_name(desk: Desk) -> None:
    """Actions are complete, and no two share a key in the same scope."""
    seen: dict[tuple[str, str], str] = {}
    for row in ACTIONS:
        action = desk.window.registry.action(row.name)
        assert action.text()
        assert not action.icon().pixmap(16, 16).isNull(), row.icon
        places = (
            {"images"}
            if row.on_images
            else {"classes"}
            if row.on_classes
            else {"images", "classes"}
        )
        for key in product(row.shortcuts, places):
            assert key not in seen, f"{key}: {row.name} and {seen[key]}"
            seen[key] = row.name


@pytest.mark.slow
def test_undo_is_offered_for_classes_too(reviewing: Desk) -> None:
    """A new class has a toast, and the menu names the step."""
    session = reviewing.window.session
    changed_by(
        reviewing.qtbot,
        session,
        lambda: session.act(lambda project: project.classes.add("Yellow")[0]),
    )
    assert "Yellow" in reviewing.window.toast.message
    assert "Yellow" in reviewing.window.registry.action("undo").text()


@pytest.mark.slow
@pytest.mark.parametrize("picture", ["", "backbones"])
def test_pictures_of_the_window_are_not_blank(
    qapp: QApplication,
    collection: Collection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    picture: str,
) -> None:
    """Screenshots in light and dark have many colours, and differ."""
    store = QSettings(str(tmp_path / "shots.ini"), QSettings.Format.IniFormat)
    monkeypatch.setattr("app.main_window.Settings", lambda: Settings(store))
    store_catalogue(cache_of_test())
    shots = {scheme: tmp_path / f"{scheme}.png" for scheme in ("light", "dark")}
    if picture:
        shots = {scheme: tmp_path / f"{picture}-{scheme}.png" for scheme in shots}
        take_pictures(collection.project, tmp_path, {picture: PICTURES[picture]})
    else:
        take_screenshots(collection.project, shots, class_name="Red")
    brightness = []
    for path in shots.values():
        image = QImage(str(path))
        assert (image.width(), image.height()) >= (1000, 700)
        points = [
            image.pixel(x, y)
            for x in range(0, image.width(), 7)
            for y in range(0, image.height(), 7)
        ]
        assert len(set(points)) > 100
        brightness.append(sum(QColor(point).lightness() for point in points) / len(points))
    assert brightness[0] > brightness[1] + 80
    set_scheme("system")


def test_waiting_for_a_picture_ends(qapp: QApplication) -> None:
    """A condition that never holds raises an error."""
    with pytest.raises(TimeoutError):
        wait_until(lambda: False, timeout_s=0.01)
