"""Many selected images: a bar with actions for all of them, one of which is Enter's."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QPushButton, QSpinBox

from app.workspace.selection_bar import (
    Acceptable,
    SelectionBar,
    acceptable,
    errors_text,
    nothing_sure_text,
    selected_text,
)
from engine.collection.state import NO_CLASS, UNKNOWN, CollectionState, ImageStatus
from engine.everyday.unseen import ClassesSeen
from tests.support.clipping import clipped
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.graphs import graph_of
from tests.support.sessions import LONG_MS, changed_by
from tests.support.states import Picture, many_pictures, state_of
from tests.support.widgets import button, texts

Key = Qt.Key
NONE_SURE = Acceptable({}, 0.0, 0, guess_count=49)


@pytest.fixture
def doubtful(reviewing: Desk) -> Desk:
    """No disc class has labels: the model does not recognise half of the images."""
    state, session = reviewing.state, reviewing.window.session
    discs = [
        class_id
        for class_id in reviewing.graph.classes()
        if reviewing.graph.name(class_id).endswith("disc")
    ]
    image_ids = state.image_ids[np.isin(state.label_class, discs)].tolist()
    with reviewing.qtbot.waitSignal(
        session.fitting_changed, check_params_cb=lambda is_fitting: not is_fitting, timeout=LONG_MS
    ):
        session.act(lambda project: project.labels.remove(image_ids))
    return reviewing


@pytest.fixture
def strange(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """The same with a low threshold for unknown images."""
    monkeypatch.setattr("engine.everyday.collection_stage.novelty.QUANTILE", 0.9)
    desk: Desk = request.getfixturevalue("doubtful")
    return desk


@pytest.fixture
def bar(reviewing: Desk) -> SelectionBar:
    """Forty images to review, selected by Ctrl+A."""
    reviewing.choose(0)
    reviewing.press(Key.Key_A, CONTROL)
    bar = reviewing.window.workspace.selection_bar
    reviewing.wait(bar.isVisible)
    return bar


def shown_state(desk: Desk) -> CollectionState:
    state = desk.window.session.current_card.state
    assert state is not None
    return state


def above(desk: Desk, percent: int) -> tuple[int, float]:
    """Number of images to review above a threshold, and their expected errors, as on the cards."""
    state = shown_state(desk)
    scores = state.best_score[(state.label_class == NO_CLASS) & ~state.is_unknown].astype(
        np.float64
    )
    return int((scores > percent / 100).sum()), float((1 - scores[scores > percent / 100]).sum())


def top_of(desk: Desk, bar: SelectionBar) -> int:
    """Vertical position of the bar in the window."""
    return bar.mapTo(desk.window, QPoint()).y()


def set_threshold(desk: Desk, bar: SelectionBar, percent: int) -> None:
    """Type another threshold and return to the images."""
    (field,) = bar.findChildren(QSpinBox)
    QTest.mouseClick(field.lineEdit(), Qt.MouseButton.LeftButton)
    field.selectAll()
    QTest.keyClicks(field, str(percent))
    QTest.keyClick(field, Key.Key_Return)
    assert desk.grid.hasFocus()


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        (0.0, "fewer than 1 error"),
        (0.99, "fewer than 1 error"),
        (1.2, "about 1 error"),
        (4.6, "about 5 errors"),
        (12.4, "about 12 errors"),
    ],
)
def test_errors_are_rounded_honestly(expected: float, text: str) -> None:
    """The text never says "no errors"."""
    assert errors_text(expected) == text


@pytest.mark.slow
def test_it_comes_and_goes_with_the_selection(reviewing: Desk, bar: SelectionBar) -> None:
    """Shift and an arrow show it; Esc, the close button and a single image hide it."""
    assert selected_text(40) in texts(bar)
    reviewing.press(Key.Key_Escape)
    reviewing.wait(lambda: not bar.isVisible())
    reviewing.press(Key.Key_Right, SHIFT)
    reviewing.wait(lambda: selected_text(2) in texts(bar))
    QTest.mouseClick(button(bar, "Select one image only"), Qt.MouseButton.LeftButton)
    reviewing.wait(lambda: not bar.isVisible())
    assert len(reviewing.grid.selected_ids) == 1
    assert reviewing.grid.hasFocus()


@pytest.mark.slow
def test_it_says_why_nothing_can_be_accepted(doubtful: Desk, bar: SelectionBar) -> None:
    """Three of eight classes have no examples: next to the button, and after Enter."""
    set_threshold(doubtful, bar, 99)
    reason = nothing_sure_text(NONE_SURE, ClassesSeen(5, 3, 0.4), doubtful.graph)
    assert (
        reason
        == "5 of 8 classes have examples. Nothing here is sure enough yet: label more classes."
    )
    doubtful.wait(lambda: reason in texts(bar))
    accept = bar.findChild(QPushButton)
    assert accept is not None
    assert not accept.isEnabled()
    doubtful.press(Key.Key_Return)
    doubtful.wait(lambda: doubtful.window.toast.message.endswith(reason))


def test_no_reason_where_all_classes_have_examples() -> None:
    """A single class gives another reason."""
    assert nothing_sure_text(NONE_SURE, None, graph_of({"Gull": ()})) == ""
    only = nothing_sure_text(NONE_SURE, ClassesSeen(1, 1, 0.5), graph_of({"Gull": ()}))
    assert only == "There is only one class. Nothing here is sure enough yet: label more classes."
    one = nothing_sure_text(NONE_SURE, ClassesSeen(1, 1, 0.5), graph_of({"Gull": (), "Tern": ()}))
    assert one.startswith("1 of 2 classes has examples.")
    some = NONE_SURE._replace(groups={1: [11]})
    assert nothing_sure_text(some, ClassesSeen(1, 1, 0.5), graph_of({"Gull": (), "Tern": ()})) == ""


@pytest.mark.slow
@pytest.mark.parametrize("percent", [70, 80])
def test_enter_does_what_the_bar_says(doubtful: Desk, bar: SelectionBar, percent: int) -> None:
    """The images above the threshold are accepted in one undoable step."""
    set_threshold(doubtful, bar, percent)
    count, errors = above(doubtful, percent)
    assert 0 < count < 49
    accept = bar.findChild(QPushButton)
    assert accept is not None
    doubtful.wait(lambda: accept.text() == f"Accept {count}")
    assert errors_text(errors) in texts(bar)
    change = doubtful.press_for_change(Key.Key_Return)
    assert len(change.labelled) == count
    assert f"Accepted {count} images in" in doubtful.window.toast.message
    doubtful.press_for_change(Key.Key_Z, CONTROL)
    assert doubtful.grid.model().rowCount() == 49


@pytest.mark.slow
def test_images_that_may_show_none_of_the_classes_are_included_by_a_tick(
    strange: Desk, bar: SelectionBar
) -> None:
    """They are counted next to the button; ticked, Enter accepts them, too."""
    set_threshold(strange, bar, 50)
    count, _errors = above(strange, 50)
    state = shown_state(strange)
    far = int(((state.label_class == NO_CLASS) & state.is_unknown & (state.best_score > 0.5)).sum())
    assert far > 0
    (include,) = bar.findChildren(QCheckBox)
    strange.wait(lambda: include.text() == f"Include {far} unknown")
    QTest.mouseClick(include, Qt.MouseButton.LeftButton, pos=QPoint(8, include.height() // 2))
    strange.wait(lambda: button(bar, "Accept").text() == f"Accept {count + far}")
    strange.grid.setFocus()
    assert len(strange.press_for_change(Key.Key_Return).labelled) == count + far


@pytest.mark.slow
def test_the_button_does_the_same_and_the_threshold_is_kept(
    reviewing: Desk, bar: SelectionBar
) -> None:
    """A click accepts, the focus returns to the images, and the threshold is stored."""
    for _step in range(5):
        QTest.mouseClick(button(bar, "Higher"), Qt.MouseButton.LeftButton)
    assert reviewing.window.settings.accept_above == 85
    count, _errors = above(reviewing, 85)
    change = changed_by(
        reviewing.qtbot,
        reviewing.window.session,
        lambda: QTest.mouseClick(button(bar, "Accept"), Qt.MouseButton.LeftButton),
    )
    assert len(change.labelled) == count


@pytest.mark.slow
def test_labels_of_many_are_given_and_removed(reviewing: Desk, bar: SelectionBar) -> None:
    """Button "Label as" asks once for all; "Remove label" is shown only if there is one."""
    assert not button(bar, "Remove label").isVisible()
    QTest.mouseClick(button(bar, "Label as"), Qt.MouseButton.LeftButton)
    reviewing.type_into_palette("blue ch")
    reviewing.press_for_change(Key.Key_Return)
    reviewing.window.registry.trigger("show_labelled")
    reviewing.grid.setFocus()
    reviewing.press(Key.Key_A, CONTROL)
    reviewing.wait(lambda: selected_text(64) in texts(bar))
    assert not button(bar, "Accept").isEnabled()
    toast = reviewing.window.toast
    change = changed_by(
        reviewing.qtbot,
        reviewing.window.session,
        lambda: QTest.mouseClick(button(bar, "Remove label"), Qt.MouseButton.LeftButton),
    )
    assert change.text == toast.message == "Removed 64 labels"
    assert not bar.isVisible() or toast.mapTo(
        reviewing.window, toast.rect().bottomLeft()
    ).y() < top_of(reviewing, bar)


@pytest.mark.slow
def test_no_card_moves_or_hides_behind_it(reviewing: Desk, bar: SelectionBar) -> None:
    """Cards keep their positions, and the last row can be scrolled above the bar."""
    reviewing.press(Key.Key_Escape)
    reviewing.wait(lambda: not bar.isVisible())
    grid = reviewing.grid
    first = grid.visualRect(grid.model().index(0, 0))
    reviewing.press(Key.Key_A, CONTROL)
    reviewing.wait(bar.isVisible)
    assert grid.visualRect(grid.model().index(0, 0)) == first
    reviewing.press(Key.Key_End, CONTROL)
    last = grid.visualRect(grid.model().index(39, 0))
    assert grid.viewport().mapTo(reviewing.window, last.bottomLeft()).y() < top_of(reviewing, bar)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1440, 900), (1000, 640), (860, 500)])
def test_it_fits_every_window(reviewing: Desk, bar: SelectionBar, size: tuple[int, int]) -> None:
    """The bar wraps to more lines, without clipped texts or parts outside."""
    reviewing.window.resize(*size)
    reviewing.wait(lambda: bar.width() == reviewing.window.workspace.width())
    reviewing.wait(lambda: not clipped(bar))
    assert all(
        bar.rect().contains(part.geometry())
        for part in bar.findChildren(QPushButton)
        if part.isVisible()
    )


GULL, TERN = 3, 5
SURE = Picture(best=GULL, score=0.95)


def accepted(state: CollectionState, threshold: float = 0.8) -> Acceptable:
    """What accepting all images of a state would do."""
    return acceptable(state, state.image_ids.tolist(), threshold)


def test_images_above_the_threshold_are_grouped_by_class() -> None:
    """Three of four pass 80%; errors of 5%, 10% and 15% sum to 0.3."""
    guesses = [
        SURE,
        Picture(best=TERN, score=0.9),
        Picture(best=GULL, score=0.85),
        Picture(best=TERN, score=0.79),
    ]
    groups, expected_errors, *_ = accepted(state_of(guesses))
    assert groups == {GULL: [11, 13], TERN: [12]}
    assert expected_errors == pytest.approx(0.3)


def test_errors_are_counted_as_an_audit_showed_them() -> None:
    """Odds of 1 in 9, scaled by four; the accepted images do not change."""
    state = replace(state_of([Picture(best=GULL, score=0.9)] * 10), error_odds=4.0)
    found = accepted(state)
    assert found.image_count == 10
    assert found.expected_errors == pytest.approx(10 * 4 / 13)


@pytest.mark.parametrize(
    "other",
    [
        Picture(best=GULL, score=0.95, is_unknown=True),
        Picture(best=GULL, score=0.95, label=TERN),
        Picture(best=GULL, score=0.95, label=GULL),
        Picture(best=GULL, score=0.95, label=UNKNOWN),
        Picture(best=GULL, score=0.95, status=ImageStatus.FAILED),
        Picture(best=GULL, score=0.95, status=ImageStatus.WAITING),
        Picture(),
    ],
)
def test_only_guesses_are_accepted(other: Picture) -> None:
    """Labels stay; unknown images and those without a prediction are skipped."""
    done = accepted(state_of([other, SURE, other]))
    assert done.groups == {GULL: [12]}
    assert done.image_count == 1
    assert done.expected_errors == pytest.approx(0.05)


def test_images_that_are_gone_or_not_chosen_are_passed_over() -> None:
    """Ids of removed images are no error, also in an empty project."""
    state = state_of([SURE] * 4)
    assert acceptable(state, (99, 14, 12, 1), 0.5).groups == {GULL: [14, 12]}
    assert acceptable(state, (), 0.5) == ({}, 0.0, 0, 0)
    assert acceptable(state_of([]), (11, 12), 0.5) == ({}, 0.0, 0, 0)


def test_images_that_may_show_none_of_the_classes_are_counted_and_can_be_included() -> None:
    """Two of them pass the threshold; included, there are three, with their errors."""
    far = Picture(best=GULL, score=0.9, is_unknown=True)
    state = state_of([SURE, far, far, Picture(best=GULL, score=0.5, is_unknown=True)])
    assert accepted(state).unknown_count == 2
    with_them = acceptable(state, state.image_ids.tolist(), 0.8, with_unknown=True)
    assert (with_them.groups, with_them.unknown_count) == ({GULL: [11, 12, 13]}, 2)
    assert with_them.expected_errors == pytest.approx(0.25)


def test_a_higher_threshold_accepts_fewer_images_and_errors() -> None:
    """Of 100,000 images each is accepted once, and the errors are those of the scores."""
    state = many_pictures(100_000)
    low, high = accepted(state, 0.5), accepted(state, 0.9)
    assert low.image_count == int((state.best_score > 0.5).sum())
    assert high.image_count < low.image_count
    assert high.expected_errors < low.expected_errors
    scores = state.best_score[state.best_score > 0.9].astype(np.float64)
    assert high.expected_errors == pytest.approx(float((1 - scores).sum()))
    assert sorted(image_id for group in low.groups.values() for image_id in group) == sorted(
        state.image_ids[state.best_score > 0.5].tolist()
    )
