"""Sequences folded into one card: unfolded by key or click, labelled in one step."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QListWidget
from pytestqt.qtbot import QtBot

from app.folding import finding
from app.folding.controller import Folding
from app.image_grid.card_words import Card
from app.image_grid.held_order import Order
from app.image_grid.model import ImageGridModel
from app.session.subsets import Subset
from app.settings import Settings
from engine.project import ImageDetails, Project
from tests.support.collections import Collection
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.widgets import button

Key = Qt.Key
NOON = datetime(2024, 5, 1, 12)  # noqa: DTZ001 (camera times have no time zone)
FIRST = 24  # labelled images of the collection precede the unlabelled ones


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find folds without debouncing."""
    monkeypatch.setattr(finding, "SETTLED_MS", 1)


def taken(collection: Collection, times: Sequence[float]) -> list[int]:
    """Set the times of the first unlabelled images, in seconds after noon; returns their ids."""
    with Project.open(collection.project) as project:
        ids = list(project.images.table().ids)[FIRST : FIRST + len(times)]
        project.details.store(shots(ids, times))
    return ids


def shots(image_ids: Sequence[int], times: Sequence[float]) -> list[ImageDetails]:
    """Image metadata with these times, in seconds after noon."""
    pairs = zip(image_ids, times, strict=True)
    return [
        ImageDetails(each, 1, 48, 48, NOON + timedelta(seconds=second), "Reconyx")
        for each, second in pairs
    ]


@pytest.fixture
def burst(collection: Collection) -> list[int]:
    """Ids of seven images of one sequence."""
    return taken(collection, range(7))


@pytest.fixture
def folded(desk: Desk, collection: Collection, burst: list[int]) -> Desk:
    """The images to review, in the order added, with the sequence as one card."""
    desk.open(collection.project)
    desk.window.workspace.choose_order(Order.ADDED)
    desk.window.tree.select_subset(Subset.TO_REVIEW)
    desk.wait(lambda: desk.state.folds.count == 1 and burst[1] not in ids(desk))
    desk.grid.setFocus()
    return desk


def model(desk: Desk) -> ImageGridModel:
    return desk.window.workspace.model


def ids(desk: Desk) -> list[int]:
    return model(desk).image_ids.tolist()


def card(desk: Desk, image_id: int) -> Card:
    row = model(desk).row_of(image_id)
    assert row is not None
    return model(desk).card(row)


@pytest.mark.slow
def test_a_burst_is_one_card_with_a_count(folded: Desk, burst: list[int]) -> None:
    """Forty images to review on thirty-four cards; the header has both numbers."""
    assert (card(folded, burst[0]).stack, card(folded, burst[0]).chip) == (7, "×7")  # noqa: RUF001 (multiplication sign)
    assert not set(burst[1:]) & set(ids(folded))
    texts = [label.text() for label in folded.window.workspace.header.findChildren(QLabel)]
    assert "40 images in 34 cards" in texts


@pytest.mark.slow
def test_b_unfolds_and_folds_again(folded: Desk, burst: list[int]) -> None:
    """The images are shown in place of the card, numbered; B on any of them folds all."""
    folded.choose(ids(folded).index(burst[0]))
    before = ids(folded)
    folded.press(Key.Key_B)
    place = before.index(burst[0])
    assert ids(folded) == [*before[:place], *burst, *before[place + 1 :]]
    assert [card(folded, image_id).chip for image_id in burst[:2]] == ["1 of 7", "2 of 7"]
    folded.choose(ids(folded).index(burst[3]))
    folded.press(Key.Key_B)
    assert (ids(folded), folded.grid.current_id) == (before, burst[0])


@pytest.mark.slow
def test_a_click_on_the_count_unfolds(folded: Desk, burst: list[int], qtbot: QtBot) -> None:
    """A click next to it selects the card as usual."""
    row = ids(folded).index(burst[0])
    rect = folded.grid.visualRect(model(folded).index(row))
    qtbot.mouseClick(folded.grid.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    assert burst[1] not in ids(folded)
    chip = folded.grid.chip_at(model(folded).index(row)).center()
    qtbot.mouseClick(folded.grid.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(chip))
    assert burst[1] in ids(folded)


def test_a_card_without_a_fold_says_so(folded: Desk) -> None:
    folded.choose(len(ids(folded)) - 1)
    folded.press(Key.Key_B)
    assert "no duplicates" in folded.window.toast.message


@pytest.mark.slow
def test_one_key_labels_all_in_one_step(folded: Desk, burst: list[int]) -> None:
    """Each image gets its own label; one undo removes them all; the next card is current."""
    row = folded.choose(ids(folded).index(burst[0]))
    following = ids(folded)[ids(folded).index(row) + 1]
    predicted = folded.best_of(burst[0])
    change = folded.press_for_change(Key.Key_Return)
    assert set(change.labelled) == set(burst)
    assert {folded.label_of(image_id) for image_id in burst} == {predicted}
    assert folded.window.toast.message.startswith("Labelled 7 images as")
    assert folded.grid.current_id == following
    folded.press_for_change(Key.Key_Z, CONTROL)
    assert {folded.label_of(image_id) for image_id in burst} == {""}


@pytest.mark.slow
def test_other_labels_are_kept_and_counted(
    desk: Desk, collection: Collection, burst: list[int]
) -> None:
    """The key labels the other five of the sequence, and a message counts the two."""
    with Project.open(collection.project) as project:
        other = project.classes.graph.find("Blue checks")
        project.labels.set(burst[2:4], other)
    desk.open(collection.project)
    desk.window.workspace.choose_order(Order.ADDED)
    desk.wait(lambda: desk.state.folds.count == 1 and burst[1] not in ids(desk))
    desk.choose(ids(desk).index(burst[0]))
    change = desk.press_for_change(Key.Key_U)
    assert set(change.labelled) == set(burst) - set(burst[2:4])
    assert {desk.label_of(image_id) for image_id in burst[2:4]} == {"Blue checks"}
    assert desk.window.toast.message.endswith("2 images keep their other labels.")
    desk.choose(ids(desk).index(burst[0]))
    change = desk.press_for_change(Key.Key_X)
    assert set(change.labelled) == set(burst) - set(burst[2:4])


def find_burst(desk: Desk, burst: Sequence[int]) -> None:
    """Store times and start the search for sequences."""
    session = desk.window.session
    session.take(
        lambda live: live.project.details.store(shots(burst, range(len(burst)))), lambda: None
    )
    next(iter(desk.window.findChildren(finding.FoldFinding))).find()
    desk.wait(lambda: desk.state.folds.count == 1)


@pytest.fixture
def unlabelled(desk: Desk, collection: Collection) -> Desk:
    """A project without labels in which two cards are selected."""
    with Project.open(collection.project) as project:
        project.labels.remove(list(project.images.table().ids))
    desk.open(collection.project)
    desk.window.workspace.choose_order(Order.ADDED)
    desk.choose(FIRST + 1)
    desk.press(Key.Key_Right, SHIFT)
    return desk


@pytest.mark.slow
def test_folding_is_asked_once_before_the_first_label(unlabelled: Desk) -> None:
    """In a notice, not a dialog: the cards and the selection stay until it is answered."""
    before, chosen = ids(unlabelled), unlabelled.grid.selected_ids
    burst = before[FIRST + 2 : FIRST + 7]
    find_burst(unlabelled, burst)
    question = unlabelled.window.of(Folding).question
    unlabelled.wait(question.isVisible)
    assert ids(unlabelled) == before
    assert unlabelled.grid.selected_ids == chosen
    unlabelled.click(button(question, "Fold"))
    assert not set(burst[1:]) & set(ids(unlabelled))
    assert set(unlabelled.grid.selected_ids) == {chosen[0], burst[0]}
    assert not question.isVisible()
    find_burst(unlabelled, burst)
    assert not question.isVisible()


@pytest.mark.slow
def test_kept_apart_they_stay_reachable_in_the_menu(unlabelled: Desk) -> None:
    """The answer is stored with the project; the menu can still fold them."""
    burst = ids(unlabelled)[FIRST : FIRST + 5]
    find_burst(unlabelled, burst)
    question = unlabelled.window.of(Folding).question
    unlabelled.wait(question.isVisible)
    unlabelled.click(button(question, "Keep apart"))
    assert set(burst) <= set(ids(unlabelled))
    unlabelled.window.trigger("fold_images")
    assert not set(burst[1:]) & set(ids(unlabelled))


@pytest.mark.slow
def test_the_first_label_puts_the_question_away(unlabelled: Desk) -> None:
    """The question is not asked again."""
    find_burst(unlabelled, ids(unlabelled)[FIRST : FIRST + 5])
    question = unlabelled.window.of(Folding).question
    unlabelled.wait(question.isVisible)
    unlabelled.grid.setFocus()
    unlabelled.press_for_change(Key.Key_U)
    assert not question.isVisible()


@pytest.mark.slow
def test_bursts_found_after_a_label_change_no_card_and_ask_nothing(
    desk: Desk, collection: Collection
) -> None:
    """The order of the cards is held; they are folded when the cards are sorted again."""
    desk.open(collection.project)
    desk.window.workspace.choose_order(Order.ADDED)
    desk.choose(0)
    desk.press(Key.Key_Right)
    before = ids(desk)
    burst = before[FIRST : FIRST + 5]
    find_burst(desk, burst)
    assert ids(desk) == before
    assert not desk.window.of(Folding).question.isVisible()
    assert not desk.window.toast.message
    desk.window.trigger("sort_again")
    assert not set(burst[1:]) & set(ids(desk))


@pytest.mark.slow
def test_the_switch_is_kept_for_the_project(
    folded: Desk, burst: list[int], settings: Settings
) -> None:
    info = folded.window.session.info
    assert info is not None
    folded.window.trigger("fold_images")
    assert set(burst) <= set(ids(folded))
    assert not settings.is_folding(info.project_id)
    assert settings.is_folding("another project")
    folded.window.trigger("fold_images")
    assert not set(burst[1:]) & set(ids(folded))
    assert settings.is_folding(info.project_id)


@pytest.mark.slow
def test_one_of_each_and_back(folded: Desk, burst: list[int]) -> None:
    """The subset has every image but the six that are folded under the first."""
    folded.window.trigger("one_of_each")
    assert len(ids(folded)) == 58
    assert not set(burst[1:]) & set(ids(folded))
    folded.press(Key.Key_Escape)
    assert folded.window.workspace.images is None


@pytest.mark.slow
def test_the_best_of_each_burst_is_looked_for(folded: Desk, burst: list[int]) -> None:
    """Sharpness is computed first; then the sharpest image of the sequence is shown alone."""
    folded.window.trigger("best_of_bursts")
    folded.wait(lambda: folded.window.workspace.images is not None)
    (best,) = ids(folded)
    folds = folded.state.folds
    sharpness = dict(zip(folds.image_ids.tolist(), folds.sharpness.tolist(), strict=True))
    assert best == max(burst, key=lambda image_id: sharpness[image_id])


@pytest.mark.slow
def test_another_time_makes_other_bursts(folded: Desk, burst: list[int]) -> None:
    """The list opens at the gap in use; without a gap nothing is folded; undo restores that."""
    folded.window.trigger("burst_seconds")
    folded.wait(folded.window.palette_panel.isVisible)
    palette = folded.window.palette_panel
    shown = palette.findChild(QListWidget)
    assert isinstance(shown, QListWidget)
    assert palette.rows[shown.currentRow()].subtitle == "current"
    assert shown.viewport().rect().contains(shown.visualItemRect(shown.currentItem()))
    rows = folded.type_into_palette("0")
    assert [row.title for row in rows] == ["No bursts"]
    folded.press_for_change(Key.Key_Return)
    folded.wait(lambda: folded.state.folds.count == 0)
    folded.grid.setFocus()
    folded.press_for_change(Key.Key_Z, CONTROL)
    folded.wait(lambda: folded.state.folds.count == 1)
    assert folded.state.folds.of(folded.state.image_ids).max() == 0
    assert burst
