"""A new project: an accurate or a fast backbone, how long the images take, and the preparation of what is not ready."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFileDialog, QScrollArea, QWidget

from app.settings import Settings
from app.welcome.controller import Projects
from app.welcome.making import ProjectMaking
from app.welcome.new_project_view import NewProjectCard
from engine.backbones.bundled import BackboneChoice
from engine.backbones.messages import AddedBackbone
from engine.collection.models import find_model
from engine.embedding.messages import MeasuredRates, PhotoRate
from engine.events import Progress
from engine.project import Project
from engine.worker.protocol import Failed
from tests.support.clipping import clipped
from tests.support.collections import write_shape
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.offers import offer_two
from tests.support.scripted_workers import Player, Step
from tests.support.widgets import texts

Key = Qt.Key
FAST = find_model().name


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """A folder with five pictures."""
    for number in range(5):
        write_shape(tmp_path / "field trip" / f"{number}.png", "Red disc", seed=number)
    return tmp_path / "field trip"


def measured(**rates: PhotoRate) -> Player:
    """A worker that has measured these rates."""
    return Player([MeasuredRates(rates)], [MeasuredRates(rates)])


def offer(desk: Desk, player: Player | None = None) -> ProjectMaking:
    """Let a script measure."""
    making = desk.window.of(Projects).making
    making.measuring.make_job = player or measured()
    return making


def dropped(desk: Desk, photos: Path) -> NewProjectCard:
    """The card, after photos were dropped on the first page and it knows all that it can."""
    making = desk.window.of(Projects).making
    desk.drop_files(desk.window.of(Projects).page, [photos])
    desk.wait(lambda: making.card is not None and making.card.isVisible())
    assert making.card is not None
    desk.wait(lambda: making.measuring.stage == "done")
    return making.card


def click(desk: Desk, widget: QWidget, place: QPoint | None = None) -> None:
    """Press and let go."""
    desk.qtbot.mouseClick(widget, Qt.MouseButton.LeftButton, pos=place or widget.rect().center())


def backbone_of(desk: Desk) -> str:
    """Of the project that is open now."""
    desk.wait(lambda: desk.window.session.info is not None)
    info = desk.window.session.info
    assert info is not None
    with Project.open(info.path, for_writing=False) as project:
        return project.models.current.backbone_name


def test_enter_after_a_drop_makes_a_project_of_the_usual_kind(
    desk: Desk, photos: Path, tinyleaf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The card says how many images there are, how fast each backbone is here, and how long they take."""
    offer_two(monkeypatch)
    player = measured(**{FAST: PhotoRate(400.0, 400.0), tinyleaf: PhotoRate(0.02, 400.0)})
    offer(desk, player)
    card = dropped(desk, photos)
    assert len(player.requests[0].photos) == 5
    assert card.chosen == tinyleaf
    assert card.choices[FAST].facts == ("200\u00a0images/s on this computer", "A few seconds for 5 images")
    assert card.choices[tinyleaf].facts == ("0.0\u00a0images/s on this computer", "About 4\u00a0minutes for 5 images")
    desk.wait(lambda: not clipped(card))
    assert [area.verticalScrollBar().maximum() for area in card.findChildren(QScrollArea)] == [0]
    desk.press(Key.Key_Return)
    assert not card.isVisible()
    assert backbone_of(desk) == tinyleaf
    desk.wait(lambda: desk.window.session.state is not None and len(desk.state.image_ids) == 5)


def test_accuracy_or_speed_is_asked_not_a_backbone(
    desk: Desk, photos: Path, tinyleaf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who drops photos for the first time need not know what a backbone is."""
    offer_two(monkeypatch)
    offer(desk)
    card = dropped(desk, photos)
    words = texts(card)
    assert "Choose accuracy or speed." in words
    assert [card.choices[name].button.text() for name in (tinyleaf, FAST)] == ["Accurate", "Fast"]
    assert "About three times faster, less accurate." in texts(card.choices[FAST])
    assert "backbone" not in words.lower()


def test_a_click_on_a_card_chooses_and_is_remembered(
    desk: Desk, photos: Path, tinyleaf: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anywhere on the card; the next new project begins with the same choice."""
    offer_two(monkeypatch)
    offer(desk)
    card = dropped(desk, photos)
    click(desk, card.choices[FAST], QPoint(30, card.choices[FAST].height() - 8))
    assert card.chosen == FAST
    click(desk, card.create_button)
    assert backbone_of(desk) == FAST
    assert settings.new_project_choice == BackboneChoice.FAST
    with Project.open(photos.with_suffix(".protoleaf"), for_writing=False) as project:
        desk.wait(lambda: settings.was_offered(project.backups.project_id))
    desk.press(Key.Key_N, CONTROL | SHIFT)
    desk.wait(card.isVisible)
    assert card.chosen == FAST


@pytest.mark.parametrize("way_out", ["esc", "button"])
def test_nothing_is_made_without_a_yes(
    desk: Desk, photos: Path, tinyleaf: str, way_out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first page is there again, and no file was written."""
    offer_two(monkeypatch)
    offer(desk)
    card = dropped(desk, photos)
    if way_out == "esc":
        desk.press(Key.Key_Escape)
    else:
        click(desk, card.keep_button)
    assert not card.isVisible()
    assert desk.window.session.info is None
    assert [path.name for path in photos.parent.glob("*.protoleaf")] == []


def test_the_place_is_asked_for_where_nothing_says_it(
    desk: Desk, tmp_path: Path, tinyleaf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever changes their mind about the place is asked about the backbone still."""
    offer_two(monkeypatch)
    offer(desk)
    answers = ["", str(tmp_path / "birds")]
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_arguments: (answers.pop(0), ""))
    click(desk, desk.window.of(Projects).page.buttons["new_project"])
    desk.wait(lambda: desk.window.of(Projects).making.card is not None)
    card = desk.window.of(Projects).making.card
    assert card is not None
    assert card.create_button.text() == "Create project…"
    desk.press(Key.Key_Return)
    assert card.isVisible()
    desk.press(Key.Key_Return)
    assert backbone_of(desk) == tinyleaf
    assert desk.window.session.info is not None
    assert desk.window.session.info.path == tmp_path / "birds.protoleaf"


def preparing(desk: Desk, photos: Path, *scripts: list[Step]) -> NewProjectCard:
    """The card while a worker prepares the accurate backbone."""
    making = offer(desk)
    making.preparing.make_job = Player(*scripts)
    card = dropped(desk, photos)
    click(desk, card.choices["tinyleaf"].button, QPoint(10, 10))
    assert card.choices["tinyleaf"].facts[-1] == "Prepared once before its first use."
    desk.press(Key.Key_Return)
    return card


def test_what_is_not_ready_is_prepared_with_progress_and_can_be_stopped(
    desk: Desk, photos: Path, tinyleaf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a stop the choice is there again; the second time the project is made."""
    offer_two(monkeypatch, is_ready=False)
    done = AddedBackbone(tinyleaf, "00ff", 384)
    card = preparing(desk, photos, [Progress(1, 4, "steps", note="Converting"), "wait"], [done])
    desk.wait(lambda: card.progress.facts == "1 of 4  ·  Converting")
    assert card.progress.cancel_button.hasFocus()
    assert not card.create_button.isVisible()
    desk.press(Key.Key_Space)
    desk.wait(card.create_button.isVisible)
    assert card.chosen == tinyleaf
    assert desk.window.session.info is None
    desk.press(Key.Key_Return)
    assert backbone_of(desk) == tinyleaf


def test_a_preparation_that_fails_leaves_the_other_choice(
    desk: Desk, photos: Path, tinyleaf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The card says why; the fast one can be taken."""
    offer_two(monkeypatch, is_ready=False)
    card = preparing(desk, photos, [Failed("the weights package is not there; expected: version 0.1.0")])
    desk.wait(lambda: "weights package" in card.failure.text)
    click(desk, card.choices[FAST].button, QPoint(10, 10))
    desk.press(Key.Key_Return)
    assert backbone_of(desk) == FAST


def test_one_backbone_is_no_choice(desk: Desk, photos: Path) -> None:
    """Nobody is asked."""
    desk.drop_files(desk.window.of(Projects).page, [photos])
    assert backbone_of(desk) == FAST
    assert desk.window.of(Projects).making.card is None
