"""The panel of graph suggestions: its texts and buttons."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QPushButton

from app.graph_suggestions.controller import Suggesting
from app.graph_suggestions.view import SuggestionCard, SuggestionPanel
from app.graph_suggestions.wording import words_of
from app.images.strip import ThumbnailStrip
from engine.collection.graph_suggestions.suggestion import (
    GraphSuggestion,
    PossibleParents,
    UnderlabelledClass,
    dismissed_keys,
)
from engine.graph.category_graph import CategoryGraph
from engine.project import Change, Project
from tests.support.clipping import clipped
from tests.support.collections import Collection, read_truth_table
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.projects import named
from tests.support.sessions import act, changed_by

SHOTS = 3
MOST_TABS = 6


@pytest.fixture
def dropped(desk: Desk, collection: Collection) -> int:
    """A root class with three images of red stripes, in the open collection."""
    desk.open(collection.project)
    truth = read_truth_table(collection)
    paths = dict(zip(desk.state.paths, desk.state.image_ids.tolist(), strict=True))
    reds = [paths[path] for path, leaf in truth.items() if leaf == "Red stripes"]
    made: list[int] = []

    def add(project: Project) -> Change:
        with project.history.one_step(named("Dropped")) as step:
            made.append(project.classes.add("Dropped")[1])
            project.labels.set(reds[:SHOTS], made[0])
        return step.change

    act(desk.qtbot, desk.window.session, add)
    return made[0]


def open_panel(desk: Desk) -> SuggestionPanel:
    """Open it by its keys and wait for suggestions."""
    desk.press(Qt.Key.Key_G, CONTROL | SHIFT)
    panel = desk.window.of(Suggesting).panel
    assert panel is not None
    desk.wait(lambda: bool(panel.check.text()) and is_at_rest(desk))
    return panel


def is_at_rest(desk: Desk) -> bool:
    """Whether no search for suggestions is running or pending."""
    return desk.window.session.is_settled and not desk.window.of(Suggesting).is_looking


def card_of(panel: SuggestionPanel, class_id: int) -> SuggestionCard:
    """The card about the parents of a class."""
    (card,) = (
        card
        for card in panel.cards
        if isinstance(card.suggestion.subject, PossibleParents)
        and card.suggestion.subject.class_id == class_id
    )
    return card


def click(desk: Desk, button: QPushButton) -> Change:
    """Click a button that changes the project."""
    return changed_by(
        desk.qtbot,
        desk.window.session,
        lambda: desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton),
    )


def is_about(panel: SuggestionPanel, class_id: int) -> bool:
    """Whether a card is about the parents of a class."""
    return any(
        isinstance(c.suggestion.subject, PossibleParents)
        and c.suggestion.subject.class_id == class_id
        for c in panel.cards
    )


@pytest.mark.slow
def test_accepting_moves_the_class_and_undo_brings_the_card_back(desk: Desk, dropped: int) -> None:
    """The card names the parent and shows images; the first button moves the class."""
    panel = open_panel(desk)
    card = card_of(panel, dropped)
    assert card.words.title == "Dropped may belong under Red"
    assert not clipped(panel)
    change = click(desk, card.choices[0])
    assert desk.graph.parents(dropped) == (desk.graph.find("Red"),)
    desk.wait(lambda: not is_about(panel, dropped))
    undone = changed_by(desk.qtbot, desk.window.session, desk.window.session.undo)
    assert undone.text == change.text
    desk.wait(lambda: is_about(panel, dropped))


@pytest.mark.slow
def test_what_was_dismissed_stays_away_until_it_is_asked_for(desk: Desk, dropped: int) -> None:
    """A dismissed card stays away after reopening; a button at the bottom restores it."""
    panel = open_panel(desk)
    change = click(desk, card_of(panel, dropped).dismiss_button)
    assert change.text == "Dismissed a suggestion: Dropped may belong under Red"
    desk.wait(lambda: panel.bring_back_button.isVisible() and not is_about(panel, dropped))
    kept: list[tuple[str, ...]] = []
    desk.window.session.ask(lambda live: dismissed_keys(live.project), kept.append, owner=panel)
    desk.wait(lambda: bool(kept))
    assert kept == [(f"place {dropped}",)]
    desk.press(Qt.Key.Key_Escape)
    desk.wait(lambda: not panel.isVisible())
    desk.press(Qt.Key.Key_G, CONTROL | SHIFT)
    desk.wait(lambda: panel.isVisible() and is_at_rest(desk))
    assert not is_about(panel, dropped)
    click(desk, panel.bring_back_button)
    desk.wait(lambda: is_about(panel, dropped))
    assert not panel.bring_back_button.isVisible()


def _has_focus(panel: SuggestionPanel, title: str) -> bool:
    """Whether the first button of the card with a title is focused; cards may be replaced."""
    return any(card.words.title == title and card.choices[0].hasFocus() for card in panel.cards)


@pytest.mark.slow
def test_by_keyboard(desk: Desk, dropped: int) -> None:
    """Tab moves between cards, Space accepts, and the focus stays in the panel."""
    panel = open_panel(desk)
    title = card_of(panel, dropped).words.title
    assert panel.cards[0].words.title == title
    for _ in range(MOST_TABS):
        desk.press(Qt.Key.Key_Tab)
        if _has_focus(panel, title):
            break
    assert _has_focus(panel, title)
    desk.press_for_change(Qt.Key.Key_Space)
    desk.wait(lambda: not is_about(panel, dropped))
    focused = QApplication.focusWidget()
    assert focused is not None
    assert focused is panel or panel.isAncestorOf(focused)


@pytest.mark.slow
def test_an_image_leads_to_itself_in_the_grid(desk: Desk, dropped: int) -> None:
    """A click on a thumbnail selects it among all images."""
    panel = open_panel(desk)
    card = card_of(panel, dropped)
    strip = card.findChildren(ThumbnailStrip)[0]
    desk.qtbot.mouseClick(strip, Qt.MouseButton.LeftButton, pos=QPoint(10, 10))
    assert desk.grid.current_id == card.suggestion.evidence[0].image_ids[0]


def test_a_project_that_must_not_be_changed(desk: Desk, dropped: int) -> None:
    """Read-only: only buttons that show something are enabled."""
    place = card_of(open_panel(desk), dropped).suggestion
    underlabelled = GraphSuggestion(UnderlabelledClass(dropped, 3, (1,), 5), ())
    for suggestion, is_enabled in ((place, False), (underlabelled, True)):
        words = words_of(suggestion, desk.graph.name)
        card = SuggestionCard(
            suggestion, words, desk.state, desk.window.thumbnails, is_writable=False
        )
        desk.qtbot.addWidget(card)
        assert [button.isEnabled() for button in card.choices] == [is_enabled]
        assert not card.dismiss_button.isEnabled()


@pytest.mark.slow
def test_an_underlabelled_class_is_shown(
    desk: Desk, dropped: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its button opens the page of the class, which offers likely images to label."""
    monkeypatch.setattr(
        "engine.collection.graph_suggestions.find.find_underlabelled", _always_underlabelled
    )
    panel = open_panel(desk)
    (card,) = (
        card for card in panel.cards if isinstance(card.suggestion.subject, UnderlabelledClass)
    )
    desk.qtbot.mouseClick(card.choices[0], Qt.MouseButton.LeftButton)
    assert not panel.isVisible()
    assert desk.window.tree.selected_class == desk.graph.find("Blue disc")


def _always_underlabelled(graph: CategoryGraph, _state: object) -> tuple[UnderlabelledClass, ...]:
    return (UnderlabelledClass(graph.find("Blue disc"), 1, (1, 2), 5),)


@pytest.mark.slow
def test_a_sound_graph_and_one_without_labels_are_distinguished(
    desk: Desk, collection: Collection
) -> None:
    """Without suggestions the accuracy of the check is shown; without labels nothing is known."""
    desk.open(collection.project)
    panel = open_panel(desk)
    assert panel.cards == ()
    assert panel.status.text().startswith("No suggestions")
    assert "the correct parent is first in" in panel.check.text()
    act(
        desk.qtbot,
        desk.window.session,
        lambda project: project.labels.remove(list(project.labels.by_image())),
    )
    desk.wait(lambda: panel.status.text().startswith("Label some images first"))
    assert panel.check.text() == ""


@pytest.mark.slow
def test_the_panel_goes_with_its_project(desk: Desk, collection: Collection) -> None:
    """Closing the project closes the panel and stops the search."""
    desk.open(collection.project)
    panel = open_panel(desk)
    desk.window.session.close()
    desk.wait(lambda: not panel.isVisible())
    desk.wait(lambda: not desk.window.of(Suggesting).is_looking)
    assert desk.window.session.info is None
