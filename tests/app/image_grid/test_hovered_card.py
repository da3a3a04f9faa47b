"""The card of a video frame plays its video while hovered."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QListView
from pytestqt.qtbot import QtBot

from app.image_grid.card_words import CardWords
from app.image_grid.hovered_card import HoveredCard
from app.image_grid.model import ImageGridModel
from app.session.subsets import ImageFilter
from tests.support.states import Picture, state_of

PARTS = ("t=0", "t=4", "t=12", "")


@pytest.fixture
def model() -> ImageGridModel:
    """Three frames of a clip, and a photo."""
    model = ImageGridModel(CardWords(str))
    state = state_of([Picture()] * 4)
    clip, ids = "clip.mp4", state.image_ids.tolist()
    frames = dict(zip(ids[:3], PARTS[:3], strict=True))
    model.set_state(
        replace(state, paths=[clip, clip, clip, "photo.jpg"], parts=PARTS, items={clip: frames}),
        ImageFilter(),
    )
    return model


def test_frames_follow_one_another_in_order_of_time_until_the_pointer_leaves(
    model: ImageGridModel, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.image_grid.hovered_card.FRAME_MS", 20)
    view = QListView()
    qtbot.addWidget(view)
    view.show()
    hovered = HoveredCard(view, model)
    rows = {model.card(row).source.part: row for row in range(4)}
    first, photo = model.card(rows["t=0"]), model.card(rows[""])
    hovered.move_to(rows["t=0"])
    seen = [hovered.picture_of(first).part]
    while "t=12" not in seen:
        qtbot.wait(5)
        seen.append(hovered.picture_of(first).part)
    assert list(dict.fromkeys(seen)) == ["t=0", "t=4", "t=12"]
    assert hovered.picture_of(photo) == photo.source
    QCoreApplication.sendEvent(view.viewport(), QEvent(QEvent.Type.Leave))
    assert hovered.row == -1
    assert hovered.picture_of(first) == first.source


def test_a_photo_shows_itself(model: ImageGridModel, qtbot: QtBot) -> None:
    view = QListView()
    qtbot.addWidget(view)
    hovered = HoveredCard(view, model)
    photo = next(card for row in range(4) if not (card := model.card(row)).source.part)
    hovered.move_to(model.row_of(photo.image_id) or 0)
    assert hovered.picture_of(photo) == photo.source
