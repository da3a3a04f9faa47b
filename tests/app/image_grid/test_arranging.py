"""A large collection is sorted on a thread; cards keep their order meanwhile."""

import threading
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.image_grid.held_order import HeldOrder, Order
from app.image_grid.model import ImageGridModel
from app.session.subsets import ImageFilter, Subset
from engine.collection.state import CollectionState
from tests.support.sessions import LONG_MS
from tests.support.states import Picture, state_of

SCORES = [0.1, 0.2, 0.3, 0.4]


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sort even four images on a thread."""
    monkeypatch.setattr("app.image_grid.model.FEWEST_BEHIND", 1)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Block sorting on other threads until it is set."""
    gate, sort, main = threading.Event(), HeldOrder.sorted_now, threading.current_thread()

    def gated(*given: object, **named: object) -> HeldOrder:
        assert threading.current_thread() is main or gate.wait(LONG_MS / 1000)
        return sort(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(HeldOrder, "sorted_now", staticmethod(gated))
    return gate


@pytest.fixture
def unsure(model: ImageGridModel, gate: threading.Event, large: None) -> Iterator[ImageGridModel]:
    """Cards by certainty, least certain first."""
    model.set_order(Order.UNSURE_FIRST)
    model.set_state(_state())
    yield model
    gate.set()
    model.stop()


def _state() -> CollectionState:
    return state_of([Picture(best=4, score=score) for score in SCORES])


def _scored(model: ImageGridModel, scores: list[float]) -> CollectionState:
    assert model.state is not None
    return replace(model.state, best_score=np.array(scores, dtype=np.float32))


def _shown(model: ImageGridModel) -> list[int]:
    return model.image_ids.tolist()


def _wait_for(qtbot: QtBot, model: ImageGridModel, ids: list[int]) -> None:
    qtbot.waitUntil(lambda: _shown(model) == ids, timeout=LONG_MS)


def test_cards_keep_their_places_until_they_are_sorted(
    qtbot: QtBot, unsure: ImageGridModel, gate: threading.Event
) -> None:
    """New scores are shown at once, the new order when it is sorted."""
    before = _shown(unsure)
    unsure.set_state(_scored(unsure, SCORES[::-1]))
    assert _shown(unsure) == before
    assert unsure.card(0).score == "40%"
    gate.set()
    _wait_for(qtbot, unsure, before[::-1])
    assert [unsure.card(row).score for row in range(4)] == ["10%", "20%", "30%", "40%"]


def test_the_newest_of_many_predictions_decides(
    qtbot: QtBot, unsure: ImageGridModel, gate: threading.Event
) -> None:
    """Orders are shown as they finish; the last one remains."""
    ids = _shown(unsure)
    for turn in range(1, 30):
        unsure.set_state(_scored(unsure, np.roll(SCORES, turn).tolist()))
    gate.set()
    _wait_for(qtbot, unsure, np.roll(ids, -29).tolist())
    qtbot.wait(50)
    assert _shown(unsure) == np.roll(ids, -29).tolist()


def test_nothing_jumps_once_a_person_works_on_the_cards(
    qtbot: QtBot, unsure: ImageGridModel, gate: threading.Event
) -> None:
    """A pending order is dropped once the cards are held."""
    before = _shown(unsure)
    unsure.set_state(_scored(unsure, SCORES[::-1]))
    unsure.is_held = True
    gate.set()
    qtbot.wait(100)
    assert _shown(unsure) == before
    assert unsure.changed_predictions() == 0


def test_other_images_are_there_at_once(
    qtbot: QtBot, unsure: ImageGridModel, gate: threading.Event
) -> None:
    """A chosen filter or order applies at once and discards a pending one."""
    ids = _shown(unsure)
    unsure.set_state(_scored(unsure, SCORES[::-1]))
    unsure.set_order(Order.SUREST_FIRST)
    assert _shown(unsure) == ids
    unsure.set_filter(ImageFilter(Subset.LABELLED))
    assert _shown(unsure) == []
    gate.set()
    qtbot.wait(100)
    assert _shown(unsure) == []
    unsure.set_state(None)
    assert unsure.rowCount() == 0


def test_a_label_that_comes_while_cards_are_sorted(
    qtbot: QtBot, unsure: ImageGridModel, gate: threading.Event
) -> None:
    """Its card leaves at once, and the pending order does not restore it."""
    unsure.set_filter(ImageFilter(Subset.TO_REVIEW))
    ids = _shown(unsure)
    unsure.set_state(_scored(unsure, SCORES[::-1]))
    assert unsure.state is not None
    labels = unsure.state.label_class.copy()
    labels[1] = 4
    unsure.set_state(replace(unsure.state, label_class=labels))
    left = [image_id for place, image_id in enumerate(ids) if place != 1]
    assert _shown(unsure) == left
    gate.set()
    _wait_for(qtbot, unsure, left[::-1])


def test_a_small_collection_is_sorted_at_once(model: ImageGridModel) -> None:
    """A small collection is sorted without a thread."""
    model.set_order(Order.UNSURE_FIRST)
    model.set_state(_state())
    ids = _shown(model)
    model.set_state(_scored(model, SCORES[::-1]))
    assert _shown(model) == ids[::-1]
