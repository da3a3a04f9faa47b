"""Texts and order of cards."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, Qt

from app.image_grid.card_words import CardWords, Mark
from app.image_grid.held_order import Order
from app.image_grid.model import ID_ROLE, ImageGridModel
from app.session.subsets import ImageFilter, Subset
from engine.collection.state import NO_CLASS, UNKNOWN, CollectionState, ImageStatus
from tests.support.states import Picture, state_of


def shown(model: ImageGridModel) -> list[int]:
    """Image ids in rows."""
    return [model.id_at(row) for row in range(model.rowCount())]


def labelled(state: CollectionState, image_id: int, class_id: int) -> CollectionState:
    """The state with another label."""
    labels = state.label_class.copy()
    labels[state.position(image_id)] = class_id
    return replace(state, label_class=labels)


def scored(state: CollectionState, scores: list[float]) -> CollectionState:
    """The state with other scores."""
    return replace(state, best_score=np.array(scores, dtype=np.float32))


@pytest.mark.parametrize(
    ("picture", "mark", "words"),
    [
        (Picture(label=3, best=4, score=0.9), Mark.LABELLED, ("class 3", "", "")),
        (
            Picture(label=UNKNOWN, best=4, score=0.9),
            Mark.LABELLED_UNKNOWN,
            ("None of the classes", "", ""),
        ),
        (Picture(best=4, score=0.97, safe=4, safe_score=0.97), Mark.SURE, ("class 4", "", "97%")),
        (
            Picture(best=4, score=0.5, safe=2, safe_score=0.9),
            Mark.COARSE,
            ("class 2", "class 4? 50%", "90%"),
        ),
        (Picture(best=4, score=0.5), Mark.GUESS, ("class 4?", "not sure", "50%")),
        (
            Picture(best=4, score=0.9, is_unknown=True),
            Mark.UNKNOWN,
            ("class 4?", "may be something else", "90%"),
        ),
        (Picture(), Mark.NOTHING, ("No prediction yet", "", "")),
        (Picture(status=ImageStatus.WAITING), Mark.WAITING, ("Waiting", "", "")),
        (Picture(status=ImageStatus.FAILED), Mark.FAILED, ("11.png", "", "")),
        (Picture(label=3, status=ImageStatus.FAILED), Mark.LABELLED, ("class 3", "", "")),
    ],
)
def test_words_on_a_card(
    picture: Picture, mark: Mark, words: tuple[str, str, str], model: ImageGridModel
) -> None:
    """The label first, then the leaf, the safe class or the best guess."""
    model.set_state(state_of([picture]))
    card = model.card(0)
    assert (card.mark, (card.title, card.detail, card.score)) == (mark, words)
    assert (card.image_id, card.path.name) == (11, "11.png")


@pytest.mark.parametrize("name", ["unknown", "Unknown", "None of the classes"])
def test_a_class_that_is_called_unknown(name: str, qapp: QCoreApplication) -> None:
    """The name of a class "Unknown" is in quotes; without them it means none of the classes."""
    model = ImageGridModel(CardWords(lambda _class_id: name))
    labelled_none = Picture(label=UNKNOWN, best=4, score=0.9)
    far = Picture(best=4, score=0.9, is_unknown=True)
    labelled, sure = Picture(label=4), Picture(best=4, score=0.97, safe=4, safe_score=0.97)
    coarse, guess = Picture(best=4, score=0.5, safe=2, safe_score=0.9), Picture(best=4, score=0.5)
    model.set_order(Order.ADDED)
    model.set_state(state_of([labelled_none, far, labelled, sure, coarse, guess]))
    titles = [model.card(row).title for row in range(6)]
    assert titles == ["None of the classes", f"“{name}”?", *[f"“{name}”"] * 3, f"“{name}”?"]


def test_a_card_speaks_to_a_screen_reader(model: ImageGridModel) -> None:
    """The accessible text has file, class and score; the tooltip has the file name."""
    model.set_state(state_of([Picture(best=4, score=0.97, safe=4, safe_score=0.97)]))
    index = model.index(0)
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "11.png: class 4 97%"
    assert index.data(Qt.ItemDataRole.ToolTipRole) == "11.png"
    assert index.data(ID_ROLE) == 11


def test_cards_keep_their_order_while_predictions_change(model: ImageGridModel) -> None:
    """The order is held during review, until the grid is sorted again."""
    state = state_of([Picture(best=4, score=score) for score in (0.9, 0.5, 0.7)])
    model.set_order(Order.UNSURE_FIRST)
    model.set_state(state)
    model.is_held = True
    assert shown(model) == [12, 13, 11]
    model.set_state(scored(state, [0.1, 0.99, 0.98]))
    assert shown(model) == [12, 13, 11]
    model.refresh()
    assert shown(model) == [11, 13, 12]


def test_an_order_that_is_known_late_moves_no_card_under_a_hand(model: ImageGridModel) -> None:
    """Where the order is not held it applies at once; otherwise all cards count as outdated."""
    state = state_of([Picture(best=4, score=score) for score in (0.9, 0.5, 0.7)])
    model.set_order(Order.TEACH_FIRST)
    model.set_state(state)
    model.is_held = True
    known = replace(state, teach_rank=np.array([1, 2, 0], dtype=np.int32))
    model.set_state(known)
    assert (shown(model), model.changed_predictions()) == ([12, 13, 11], 3)
    model.refresh()
    assert (shown(model), model.changed_predictions()) == ([13, 11, 12], 0)
    model.set_state(state)
    model.set_state(known)
    assert shown(model) == [13, 11, 12]


def test_a_card_that_leaves_moves_no_other(model: ImageGridModel) -> None:
    """A labelled image leaves; the others keep their order although their scores changed."""
    state = state_of([Picture(best=4, score=score) for score in (0.9, 0.5, 0.7)])
    model.set_order(Order.UNSURE_FIRST)
    model.set_state(state)
    model.set_filter(ImageFilter(Subset.TO_REVIEW))
    model.is_held = True
    model.set_state(labelled(scored(state, [0.1, 0.99, 0.98]), 13, 4))
    assert shown(model) == [12, 11]


def test_new_cards_are_sorted_in(model: ImageGridModel) -> None:
    """When images are added, all are sorted again."""
    model.set_order(Order.UNSURE_FIRST)
    model.set_state(state_of([Picture(best=4, score=0.9)]))
    model.set_state(state_of([Picture(best=4, score=0.9), Picture(best=4, score=0.3)]))
    assert shown(model) == [12, 11]


def test_a_reset_begins_with_the_old_cards(model: ImageGridModel) -> None:
    """Receivers of modelAboutToBeReset can still read the old cards, also on removal of images."""
    model.set_state(state_of([Picture()] * 5))
    seen: list[list[int]] = []
    model.modelAboutToBeReset.connect(lambda: seen.append(shown(model)))
    model.set_state(state_of([Picture()] * 2))
    model.set_state(None)
    assert seen == [[11, 12, 13, 14, 15], [11, 12]]
    assert model.rowCount() == 0


def test_rows_are_found_by_image(model: ImageGridModel) -> None:
    """A filtered-out image has no row."""
    state = state_of([Picture(label=3), Picture(), Picture()])
    model.set_state(state)
    assert [model.row_of(image_id) for image_id in (11, 13, 99)] == [0, 2, None]
    model.set_filter(ImageFilter(Subset.TO_REVIEW))
    assert [model.row_of(image_id) for image_id in (11, 13)] == [None, 1]
    assert model.image_ids.tolist() == [12, 13]
    assert state.label_class[1] == NO_CLASS


def test_images_that_are_not_where_they_were() -> None:
    """They keep label and prediction; one that was never read is missing, not unreadable."""
    pictures = (
        Picture(label=3),
        Picture(best=4, score=0.5),
        Picture(status=ImageStatus.FAILED),
        Picture(best=4),
    )
    model = ImageGridModel(CardWords(lambda class_id: f"class {class_id}"))
    model.set_order(Order.ADDED)
    model.set_state(state_of(pictures))
    ids = shown(model)
    model.set_missing(frozenset(ids[:3]))
    cards = [model.card(row) for row in range(4)]
    assert [card.is_missing for card in cards] == [True, True, True, False]
    assert [card.mark for card in cards[:3]] == [Mark.LABELLED, Mark.GUESS, Mark.MISSING]
    assert [card.title for card in cards[:3]] == ["class 3", "class 4?", "Not found"]
    assert [card.detail for card in cards[:3]] == ["Not found", "Not found", ""]
    assert model.data(model.index(0), Qt.ItemDataRole.AccessibleTextRole).endswith(
        "class 3 Not found"
    )


def test_a_file_that_could_not_be_read_has_name_and_reason(model: ImageGridModel) -> None:
    """The short reason on the card, the full one in its tooltip."""
    reason = "this is not an image that can be read: found a web page"
    failed = Picture(status=ImageStatus.FAILED)
    model.set_state(replace(state_of([failed]), failures={11: reason}))
    card = model.card(0)
    assert (card.mark, card.title, card.detail) == (
        Mark.FAILED,
        "11.png",
        "Not an image: a web page",
    )
    assert model.index(0).data(Qt.ItemDataRole.ToolTipRole) == f"11.png\n{reason}"


def test_cards_claim_nothing_before_anything_is_known(model: ImageGridModel) -> None:
    """Cards have no prediction while embeddings are pending or images are not yet classified."""
    waiting = state_of([Picture(status=ImageStatus.WAITING)])
    for early in (replace(waiting, is_list_only=True), state_of([Picture(), Picture(label=3)])):
        model.set_state(early)
        assert (model.card(0).mark, model.card(0).title) == (Mark.NOTHING, "")


def test_what_came_meanwhile_is_shown_when_the_last_held_card_is_done(
    model: ImageGridModel,
) -> None:
    """An image that joined a class is shown when the last held card has left."""
    before = state_of([Picture(best=3, score=0.9), Picture(best=4, score=0.8)])
    model.set_state(before, ImageFilter(Subset.TO_REVIEW, frozenset({3})))
    model.is_held = True
    model.set_state(replace(labelled(before, 11, 3), best_class=np.array([3, 3])))
    assert shown(model) == [12]
