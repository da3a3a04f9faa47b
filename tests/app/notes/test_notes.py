"""Stars, flags and comments by keys and mouse: card, inspector, project file, undo."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from app.image_grid.card_words import Card
from app.image_grid.model import CARD_ROLE
from app.inspector.about_file import copied_place, field_text, place_text
from app.inspector.image_page import ImagePage
from engine.collection.live import LiveCollection
from engine.project import Project
from engine.project.records import ImageDetails
from tests.support.collections import Collection
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.sessions import LONG_MS, act, changed_by
from tests.support.widgets import button, open_part

Key = Qt.Key
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def at_desk(desk: Desk, collection: Collection) -> Desk:
    desk.open(collection.project)
    return desk


def card_of(desk: Desk, row: int) -> Card:
    card = desk.grid.model().index(row, 0).data(CARD_ROLE)
    assert isinstance(card, Card)
    return card


def ids(desk: Desk) -> list[int]:
    """Images of the cards in order."""
    return [int(image_id) for image_id in desk.window.workspace.model.image_ids]


def page_of(desk: Desk) -> ImagePage:
    (page,) = desk.window.inspector.findChildren(ImagePage)
    return page


def on_disk(collection: Collection, image_id: int) -> tuple[int, bool, str]:
    """Stars, flag and comment in the project file."""
    with Project.open(collection.project, for_writing=False) as project:
        note = project.notes.of(image_id)
        return (0, False, "") if note is None else (note.stars, note.is_flagged, note.comment)


@pytest.mark.slow
def test_keys_note_and_the_same_key_takes_it_away(at_desk: Desk, collection: Collection) -> None:
    image_id = at_desk.choose(0)
    at_desk.press_for_change(Key.Key_F)
    at_desk.press_for_change(Key.Key_4, CONTROL)
    assert on_disk(collection, image_id) == (4, True, "")
    card = card_of(at_desk, 0)
    assert (card.image_id, card.stars, card.is_flagged) == (image_id, 4, True)
    assert page_of(at_desk).notes.stars.stars == 4
    assert page_of(at_desk).notes.flag.isChecked()
    at_desk.press_for_change(Key.Key_4, CONTROL)
    at_desk.press_for_change(Key.Key_F)
    assert on_disk(collection, image_id) == (0, False, "")


@pytest.mark.slow
def test_several_images_are_one_step(at_desk: Desk, collection: Collection) -> None:
    """If some are flagged, all get flagged; one undo, offered by a toast."""
    first = at_desk.choose(0)
    at_desk.press_for_change(Key.Key_F)
    at_desk.press(Key.Key_Right, SHIFT)
    at_desk.press(Key.Key_Right, SHIFT)
    chosen = at_desk.grid.selected_ids
    assert len(chosen) == 3
    change = at_desk.press_for_change(Key.Key_F)
    assert set(change.noted) == set(chosen) - {first}
    at_desk.press_for_change(Key.Key_2, CONTROL)
    assert [on_disk(collection, each)[:2] for each in chosen] == [(2, True)] * 3
    assert "3 images" in at_desk.window.toast.message
    at_desk.press_for_change(Key.Key_Z, CONTROL)
    assert [on_disk(collection, each)[:2] for each in chosen] == [(0, True)] * 3


def flagged(desk: Desk, image_id: int) -> bool:
    note = desk.state.notes.get(image_id)
    return note is not None and note.is_flagged


@pytest.mark.slow
@pytest.mark.parametrize("key", [Key.Key_Return, Key.Key_1, Key.Key_U])
def test_b9_a_flag_straight_after_a_label_is_for_the_labelled_photo(
    at_desk: Desk, key: Key
) -> None:
    """The next card is already current; the message names the photo. A second press unflags it."""
    at_desk.grid.select_row(0)
    row = next(
        row
        for row in range(at_desk.grid.model().rowCount())
        if not at_desk.label_of(ids(at_desk)[row])
    )
    image_id = at_desk.choose(row)
    at_desk.press_for_change(key)
    following = at_desk.grid.current_id
    assert following not in {None, image_id}
    at_desk.press_for_change(Key.Key_F)
    assert (flagged(at_desk, image_id), flagged(at_desk, following or 0)) == (True, False)
    name = at_desk.state.path_of(image_id).name
    assert at_desk.window.toast.message == f"Flagged 1 image, just labelled: {name}"
    at_desk.press_for_change(Key.Key_F)
    assert not flagged(at_desk, image_id)


@pytest.mark.slow
def test_b9_keys_pressed_at_once_flag_the_labelled_photo_too(at_desk: Desk) -> None:
    """A flag goes to the labelled photo even before the label is stored."""
    image_id = at_desk.choose(0)
    with at_desk.qtbot.waitSignals([at_desk.window.session.change_made] * 2, timeout=LONG_MS):
        at_desk.press(Key.Key_U)
        at_desk.press(Key.Key_F)
    at_desk.wait(lambda: flagged(at_desk, image_id))


@pytest.mark.slow
@pytest.mark.parametrize("move", ["arrow", "click on the next card"])
def test_b9_once_the_person_moves_a_flag_is_for_the_card_in_hand(at_desk: Desk, move: str) -> None:
    """After an arrow key and back, or a click on the current card, a flag goes to that card."""
    image_id = at_desk.choose(0)
    at_desk.press_for_change(Key.Key_U)
    following = at_desk.grid.current_id
    assert following is not None
    if move == "arrow":
        at_desk.press(Key.Key_Right)
        at_desk.press(Key.Key_Left)
    else:
        place = at_desk.grid.visualRect(at_desk.grid.currentIndex()).center()
        at_desk.qtbot.mouseClick(at_desk.grid.viewport(), LEFT, pos=place)
    at_desk.press_for_change(Key.Key_F)
    assert (flagged(at_desk, image_id), flagged(at_desk, following)) == (False, True)
    assert "just labelled" not in at_desk.window.toast.message


@pytest.mark.slow
def test_b9_a_flag_after_a_label_by_name_is_for_the_labelled_photo(at_desk: Desk) -> None:
    """R, a name and Enter: the palette returns the focus to the cards."""
    image_id = at_desk.choose(0)
    at_desk.press(Key.Key_R)
    at_desk.type_into_palette(at_desk.graph.name(at_desk.graph.leaves()[0]))
    at_desk.press_for_change(Key.Key_Return)
    at_desk.press_for_change(Key.Key_F)
    assert flagged(at_desk, image_id)


@pytest.mark.slow
def test_a_comment_is_written_in_the_inspector(at_desk: Desk, collection: Collection) -> None:
    """N starts it, Ctrl+Enter saves it and returns the focus, Esc discards the change."""
    image_id = at_desk.choose(0)
    at_desk.press(Key.Key_N)
    editor = page_of(at_desk).notes.editor
    at_desk.wait(editor.hasFocus)
    QTest.keyClicks(editor, "Wing blurred")
    changed_by(
        at_desk.qtbot,
        at_desk.window.session,
        lambda: QTest.keyClick(editor, Key.Key_Return, CONTROL),
    )
    assert on_disk(collection, image_id) == (0, False, "Wing blurred")
    assert at_desk.grid.hasFocus()
    assert card_of(at_desk, 0).has_comment
    at_desk.press(Key.Key_N)
    QTest.keyClicks(editor, "something else")
    QTest.keyClick(editor, Key.Key_Escape)
    assert editor.isHidden()
    assert on_disk(collection, image_id)[2] == "Wing blurred"


@pytest.mark.slow
def test_going_on_keeps_what_was_written(at_desk: Desk, collection: Collection) -> None:
    """The comment is saved for its image, not for the next one."""
    image_id = at_desk.choose(0)
    at_desk.press(Key.Key_N)
    editor = page_of(at_desk).notes.editor
    at_desk.wait(editor.hasFocus)
    QTest.keyClicks(editor, "first")
    changed_by(at_desk.qtbot, at_desk.window.session, lambda: at_desk.grid.select_row(3))
    assert on_disk(collection, image_id)[2] == "first"


@pytest.mark.slow
def test_by_mouse_and_by_the_stars_own_keys(at_desk: Desk, collection: Collection) -> None:
    image_id, notes = at_desk.choose(0), page_of(at_desk).notes
    stars, session = notes.stars, at_desk.window.session
    place = QPoint(stars.width() // 2, stars.height() // 2)
    changed_by(at_desk.qtbot, session, lambda: QTest.mouseClick(stars, LEFT, pos=place))
    assert on_disk(collection, image_id)[0] == 3
    changed_by(at_desk.qtbot, session, lambda: QTest.keyClick(stars, Key.Key_Right))
    assert (on_disk(collection, image_id)[0], stars.accessibleDescription()) == (4, "4 stars")
    changed_by(at_desk.qtbot, session, lambda: QTest.mouseClick(notes.flag, LEFT))
    assert on_disk(collection, image_id)[1]


@pytest.mark.slow
def test_a_read_only_project_is_not_noted_in(desk: Desk, collection: Collection) -> None:
    from tests.support.sessions import open_project

    open_project(desk.qtbot, desk.window.session, collection.project, for_writing=False)
    desk.grid.setFocus()
    desk.choose(0)
    desk.press(Key.Key_F)
    notes = page_of(desk).notes
    assert not notes.flag.isEnabled()
    assert not notes.stars.isEnabled()


@pytest.mark.slow
def test_about_this_file(at_desk: Desk, tmp_path: Path) -> None:
    """Image metadata in a collapsed part; path and place can be copied."""
    image_id = at_desk.choose(0)
    details = ImageDetails(
        image_id,
        1,
        4000,
        3000,
        None,
        "RECONYX HYPERFIRE 2",
        -3.5,
        37.25,
        {"iso": "800", "exposure_s": "1/250"},
    )
    session = at_desk.window.session

    def store(live: LiveCollection) -> bool:
        live.project.details.store([details])
        return True

    session.learn(store, lambda: None)
    at_desk.choose(2)
    at_desk.choose(0)
    about = page_of(at_desk).about
    at_desk.wait(lambda: about.text_of("camera") == "RECONYX HYPERFIRE 2")
    assert about.text_of("size").startswith("4000")
    assert about.text_of("place") == "3.50000° S, 37.25000° E"
    assert about.text_of("taken") == ""
    assert not about.isVisible()
    open_part(page_of(at_desk), "About this file")
    assert about.isVisible()
    assert (about.text_of("iso"), about.text_of("exposure_s")) == ("800", "1/250\u00a0s")
    button(about, "Copy coordinates").click()
    assert QGuiApplication.clipboard().text() == "-3.50000, 37.25000"
    button(about, "Copy path").click()
    assert QGuiApplication.clipboard().text() == str(at_desk.state.path_of(image_id))


def test_words_of_the_file() -> None:
    assert place_text(48.5, -9.26) == "48.50000° N, 9.26000° W"
    assert copied_place(48.5, -9.26) == "48.50000, -9.26000"
    assert field_text("keywords", "fox\nnight") == "fox, night"
    assert field_text("aperture", "2.8") == "f/2.8"
    assert field_text("rating", "4") == "★★★★"


@pytest.mark.slow
def test_the_paths_of_the_selected_images_are_copied(at_desk: Desk) -> None:
    at_desk.choose(0)
    at_desk.press(Key.Key_Right, SHIFT)
    at_desk.window.registry.trigger("copy_path")
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines == [str(at_desk.state.path_of(each)) for each in at_desk.grid.selected_ids]


@pytest.mark.slow
def test_notes_of_two_sessions(at_desk: Desk, collection: Collection) -> None:
    """They are there when the project is reopened."""
    image_id = at_desk.choose(0)
    act(
        at_desk.qtbot,
        at_desk.window.session,
        lambda project: project.notes.set_stars([image_id], 5),
    )
    at_desk.window.session.close()
    at_desk.wait(lambda: at_desk.window.session.info is None)
    at_desk.open(collection.project)
    assert at_desk.state.notes[image_id].stars == 5
