"""Fields and clocks in the window: by keys, for all selected images, saved at once, undone."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QComboBox, QLabel

from app.fields.controller import Fields
from app.inspector.image_page import ImagePage
from engine.image_fields import CAMERA_TRAP
from engine.project import Project
from engine.project.records import ImageDetails
from tests.support.collections import Collection
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.sessions import act, changed_by

Key = Qt.Key


@pytest.fixture
def at_desk(desk: Desk, collection: Collection) -> Desk:
    desk.open(collection.project)
    return desk


def page_of(desk: Desk) -> ImagePage:
    (page,) = desk.window.inspector.findChildren(ImagePage)
    return page


def type_text(desk: Desk, text: str) -> None:
    desk.qtbot.keyClicks(QApplication.focusWidget(), text)


def texts_of(desk: Desk, begin: str) -> list[str]:
    """Visible labels of the page with this prefix."""
    labels = page_of(desk).findChildren(QLabel)
    return [
        label.text() for label in labels if label.text().startswith(begin) and not label.isHidden()
    ]


def on_disk(path: Path) -> dict[int, dict[str, str]]:
    with Project.open(path, for_writing=False) as project:
        return project.fields.values()


def test_a_herd_of_12_is_a_key_a_number_and_enter(at_desk: Desk, collection: Collection) -> None:
    first = at_desk.choose(0)
    assert page_of(at_desk).fields.isHidden()
    at_desk.press(Key.Key_Right, SHIFT)
    chosen = at_desk.grid.selected_ids
    at_desk.press(Key.Key_K)
    type_text(at_desk, "12")
    change = at_desk.press_for_change(Key.Key_Return)
    assert (set(change.field_values), len(chosen)) == (set(chosen), 2)
    assert on_disk(collection.project) == {each: {"count": "12"} for each in sorted(chosen)}
    assert "2 images" in at_desk.window.toast.message
    assert at_desk.grid.hasFocus()
    assert not page_of(at_desk).fields.isHidden()
    at_desk.press_for_change(Key.Key_Z, CONTROL)
    assert on_disk(collection.project) == {}
    assert first in chosen


@pytest.mark.slow
def test_a_value_is_chosen_by_digit_and_changed_at_the_right(
    at_desk: Desk, collection: Collection
) -> None:
    act(at_desk.qtbot, at_desk.window.session, lambda project: project.fields.define(CAMERA_TRAP))
    first = at_desk.choose(0)
    act(
        at_desk.qtbot,
        at_desk.window.session,
        lambda project: project.fields.set([first], "sex", "female"),
    )
    sex = page_of(at_desk).fields.editor("sex")
    assert isinstance(sex, QComboBox)
    assert (sex.currentText(), texts_of(at_desk, "Fields")) == ("female", ["Fields"])
    at_desk.press(Key.Key_Right, SHIFT)
    assert (sex.currentIndex(), texts_of(at_desk, "Fields")) == (-1, ["Fields of 2 images"])
    chosen = at_desk.grid.selected_ids
    at_desk.press(Key.Key_K)
    type_text(at_desk, "sex")
    at_desk.press(Key.Key_Return)
    type_text(at_desk, "2")
    at_desk.press_for_change(Key.Key_Return)
    assert on_disk(collection.project) == {each: {"sex": "male"} for each in sorted(chosen)}
    assert sex.currentText() == "male"
    stage = page_of(at_desk).fields.editor("life stage")
    stage.setFocus()
    changed_by(
        at_desk.qtbot, at_desk.window.session, lambda: at_desk.qtbot.keyClick(stage, Key.Key_Down)
    )
    assert on_disk(collection.project)[first] == {"sex": "male", "life stage": "adult"}
    assert len(on_disk(collection.project)) == len(chosen)


@pytest.mark.slow
def test_fields_are_defined_from_the_palette_and_renamed(
    at_desk: Desk, collection: Collection
) -> None:
    at_desk.choose(0)
    at_desk.press(Key.Key_K)
    at_desk.press(Key.Key_End)
    at_desk.press(Key.Key_Down)
    at_desk.press(Key.Key_Return)
    card = at_desk.window.of(Fields).fields_card
    assert card is not None
    assert card.isVisible()
    at_desk.click(card.preset_button)
    changed_by(at_desk.qtbot, at_desk.window.session, lambda: at_desk.click(card.save_button))
    assert at_desk.state.fields == CAMERA_TRAP
    first = at_desk.choose(0)
    act(
        at_desk.qtbot,
        at_desk.window.session,
        lambda project: project.fields.set([first], "sex", "male"),
    )
    at_desk.window.of(Fields).define_fields()
    card.lines[0].name.selectAll()
    at_desk.qtbot.keyClicks(card.lines[0].name, "Geschlecht")
    change = changed_by(
        at_desk.qtbot, at_desk.window.session, lambda: at_desk.click(card.save_button)
    )
    assert change.text == "Renamed the field sex to Geschlecht"
    assert on_disk(collection.project) == {first: {"Geschlecht": "male"}}
    at_desk.press_for_change(Key.Key_Z, CONTROL)
    assert on_disk(collection.project) == {first: {"sex": "male"}}
    assert not page_of(at_desk).fields.isHidden()


@pytest.mark.slow
def test_a_clock_is_corrected_for_the_folder_of_the_image(
    at_desk: Desk, collection: Collection
) -> None:
    image_id = at_desk.choose(0)
    noon = "2024-05-01T12:00:00"

    def know(live: object) -> None:
        from datetime import datetime

        live.project.details.store(  # type: ignore[attr-defined]
            [ImageDetails(image_id, 1, taken_at=datetime.fromisoformat(noon))]
        )

    known: list[None] = []
    at_desk.window.session.ask(know, known.append, owner=at_desk.window)
    at_desk.wait(lambda: bool(known))
    at_desk.window.of(Fields).correct_clock()
    at_desk.wait(lambda: at_desk.window.of(Fields).clock_card is not None)
    card = at_desk.window.of(Fields).clock_card
    assert card is not None
    at_desk.qtbot.keyClicks(card.offset, "+1h")
    assert card.preview.text().startswith("1 image")
    changed_by(at_desk.qtbot, at_desk.window.session, lambda: at_desk.click(card.correct_button))
    at_desk.wait(lambda: "corrected" in page_of(at_desk).about.text_of("taken"))
    at_desk.press_for_change(Key.Key_Z, CONTROL)
    at_desk.wait(lambda: "corrected" not in page_of(at_desk).about.text_of("taken"))
    with Project.open(collection.project, for_writing=False) as project:
        assert not project.clocks.corrections()
