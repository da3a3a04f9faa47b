"""A new project: accurate or fast backbone, expected duration, preparation, photos, classes."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFileDialog, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from app.label_import.controller import LabelImports
from app.palette.folder_list import FOLDER
from app.settings import Settings
from app.welcome.controller import Projects
from app.welcome.logic import ClassesFrom, NewProject, new_project_of
from app.welcome.making import ProjectMaking
from app.welcome.new_project_view import NewProjectCard
from engine.backbones.bundled import BackboneChoice
from engine.backbones.messages import AddedBackbone
from engine.collection.models import find_model
from engine.collection.state import NO_CLASS
from engine.embedding.messages import MeasuredRates, PhotoRate
from engine.events import Progress
from engine.project import Project
from engine.worker.protocol import Failed
from tests.support.clipping import clipped
from tests.support.collections import write_graph, write_shape
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.new_project import click_box, drop_on_first_page, known_sheet
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
    """A scripted worker that reports these rates."""
    return Player([MeasuredRates(rates)], [MeasuredRates(rates)])


def offer(desk: Desk, player: Player | None = None) -> ProjectMaking:
    """Replace the worker that measures."""
    making = desk.window.of(Projects).making
    making.measuring.make_job = player or measured()
    return making


def dropped(desk: Desk, photos: Path) -> NewProjectCard:
    """The sheet after photos were dropped on the start page, fully loaded."""
    return drop_on_first_page(desk, [photos])


def click(desk: Desk, widget: QWidget, place: QPoint | None = None) -> None:
    """Click a widget."""
    desk.qtbot.mouseClick(widget, Qt.MouseButton.LeftButton, pos=place or widget.rect().center())


def backbone_of(desk: Desk) -> str:
    """The backbone of the open project."""
    desk.wait(lambda: desk.window.session.info is not None)
    info = desk.window.session.info
    assert info is not None
    with Project.open(info.path, for_writing=False) as project:
        return project.models.current.backbone_name


@pytest.mark.slow
def test_enter_after_a_drop_makes_a_project_of_the_usual_kind(
    desk: Desk, photos: Path, tinyleaf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sheet shows the number of images, and each backbone's speed and duration."""
    offer_two(monkeypatch)
    player = measured(**{FAST: PhotoRate(400.0, 400.0), tinyleaf: PhotoRate(0.02, 400.0)})
    offer(desk, player)
    card = dropped(desk, photos)
    assert len(player.requests[0].photos) == 5
    assert card.speed.chosen == tinyleaf
    assert card.speed.choices[FAST].facts == (
        "200\u00a0images/s on this computer",
        "A few seconds for 5 images",
    )
    assert card.speed.choices[tinyleaf].facts == (
        "0.0\u00a0images/s on this computer",
        "About 4\u00a0minutes for 5 images",
    )
    desk.wait(lambda: not clipped(card))
    assert [area.verticalScrollBar().maximum() for area in card.findChildren(QScrollArea)] == [0]
    desk.press(Key.Key_Return)
    assert backbone_of(desk) == tinyleaf
    assert not card.isVisible()
    desk.wait(lambda: desk.window.session.state is not None and len(desk.state.image_ids) == 5)


@pytest.mark.slow
def test_accuracy_or_speed_is_asked_not_a_backbone(
    desk: Desk, photos: Path, tinyleaf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The choice is between accuracy and speed, without names of backbones."""
    offer_two(monkeypatch)
    offer(desk)
    card = dropped(desk, photos)
    words = texts(card)
    assert "More accurate, especially with few labels." in words
    assert [card.speed.choices[name].button.text() for name in (tinyleaf, FAST)] == [
        "Accurate",
        "Fast",
    ]
    assert "About three times faster, less accurate." in texts(card.speed.choices[FAST])
    assert "backbone" not in words.lower()


@pytest.mark.slow
def test_a_click_on_a_card_chooses_and_is_remembered(
    desk: Desk, photos: Path, tinyleaf: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anywhere on the card; the next new project begins with the same choice."""
    offer_two(monkeypatch)
    offer(desk)
    card = dropped(desk, photos)
    click(desk, card.speed.choices[FAST], QPoint(30, card.speed.choices[FAST].height() - 8))
    assert card.speed.chosen == FAST
    click(desk, card.create_button)
    assert backbone_of(desk) == FAST
    assert settings.new_project_choice == BackboneChoice.FAST
    with Project.open(photos.with_suffix(".protoleaf"), for_writing=False) as project:
        desk.wait(lambda: settings.was_offered(project.backups.project_id))
    desk.press(Key.Key_N, CONTROL | SHIFT)
    desk.wait(card.isVisible)
    assert card.photos.list.folders == ()
    assert card.speed.chosen == FAST


@pytest.mark.slow
@pytest.mark.parametrize("way_out", ["esc", "button"])
def test_nothing_is_made_without_a_yes(
    desk: Desk, photos: Path, tinyleaf: str, way_out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The start page is shown again, and no file was written."""
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


@pytest.mark.slow
def test_the_place_is_chosen_or_suggested(
    desk: Desk, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Next to the photos, with their name; another one by a dialog, which may be cancelled."""
    answers = ["", str(tmp_path / "birds")]
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_arguments: (answers.pop(0), ""))
    card = dropped(desk, photos)
    desk.wait(lambda: card.place.place_text.endswith("field trip.protoleaf"))
    click(desk, card.place.place_button)
    assert card.place.place_text.endswith("field trip.protoleaf")
    click(desk, card.place.place_button)
    assert card.place.name.text() == "birds"
    click(desk, card.create_button)
    assert backbone_of(desk) == FAST
    assert desk.window.session.info is not None
    assert desk.window.session.info.path == tmp_path / "birds.protoleaf"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words"), [("a/b", "cannot have this name"), ("taken", "already there")]
)
def test_a_name_that_cannot_be_is_refused_beside_it(
    desk: Desk, photos: Path, tmp_path: Path, name: str, words: str
) -> None:
    """The name is no path, and no file is replaced; the next name is accepted."""
    (tmp_path / "taken.protoleaf").write_text("kept")
    card = dropped(desk, photos)
    card.place.name.setFocus()
    desk.qtbot.keyClicks(card.place.name, name)
    desk.press(Key.Key_Return)
    desk.wait(lambda: words in card.place.failure.text)
    assert desk.window.session.info is None
    assert (tmp_path / "taken.protoleaf").read_text() == "kept"
    desk.qtbot.keyClicks(card.place.name, "2")
    assert not card.place.failure.isVisible()
    card.place.name.clear()
    desk.qtbot.keyClicks(card.place.name, "fine")
    desk.press(Key.Key_Return)
    assert backbone_of(desk) == FAST
    assert (tmp_path / "fine.protoleaf").exists()


def preparing(desk: Desk, photos: Path, *scripts: list[Step]) -> NewProjectCard:
    """The sheet while a worker prepares the accurate backbone."""
    making = offer(desk)
    making.preparing.make_job = Player(*scripts)
    card = dropped(desk, photos)
    click(desk, card.speed.choices["tinyleaf"].button, QPoint(10, 10))
    assert card.speed.choices["tinyleaf"].facts[-1] == "First use: about a minute of setup."
    desk.press(Key.Key_Return)
    return card


@pytest.mark.slow
def test_what_is_not_ready_is_prepared_with_progress_and_can_be_stopped(
    desk: Desk, photos: Path, tinyleaf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a cancel the choice is enabled again; the second time the project is created."""
    offer_two(monkeypatch, is_ready=False)
    done = AddedBackbone(tinyleaf, "00ff", 384)
    card = preparing(desk, photos, [Progress(1, 4, "steps", note="Converting"), "wait"], [done])
    desk.wait(lambda: card.progress.facts == "Setting up (1 of 4)")
    assert card.progress.cancel_button.hasFocus()
    assert not card.create_button.isVisible()
    desk.press(Key.Key_Space)
    desk.wait(card.create_button.isVisible)
    assert card.speed.chosen == tinyleaf
    assert desk.window.session.info is None
    desk.press(Key.Key_Return)
    assert backbone_of(desk) == tinyleaf


@pytest.mark.slow
def test_a_preparation_that_fails_leaves_the_other_choice(
    desk: Desk, photos: Path, tinyleaf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sheet gives the reason; the fast one can be chosen."""
    offer_two(monkeypatch, is_ready=False)
    card = preparing(
        desk, photos, [Failed("the weights package is not there; expected: version 0.1.0")]
    )
    desk.wait(lambda: "weights package" in card.failure.text)
    click(desk, card.speed.choices[FAST].button, QPoint(10, 10))
    desk.press(Key.Key_Return)
    assert backbone_of(desk) == FAST


@pytest.mark.slow
def test_one_backbone_is_no_choice(desk: Desk, photos: Path) -> None:
    """The choice is hidden."""
    card = dropped(desk, photos)
    assert not card.speed.isVisible()
    click(desk, card.create_button)
    assert backbone_of(desk) == FAST


@pytest.mark.slow
def test_everything_may_be_left_as_it_is(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Enter on the empty sheet makes an empty project in the default folder."""
    monkeypatch.setattr("app.welcome.making.folder_for", lambda _purpose: tmp_path)
    desk.press(Key.Key_N, CONTROL | SHIFT)
    card = known_sheet(desk)
    desk.wait(lambda: str(tmp_path) in card.place.place_text)
    assert card.place.name.hasFocus()
    desk.press(Key.Key_Return)
    assert backbone_of(desk) == FAST
    assert (tmp_path / "New project.protoleaf").exists()
    desk.wait(lambda: desk.window.session.state is not None)
    assert (len(desk.state.image_ids), len(desk.graph)) == (0, 0)


@pytest.fixture
def sites(tmp_path: Path) -> Path:
    """Photos of two cameras, and a folder sorted by class."""
    for number in range(2):
        write_shape(tmp_path / "trip" / "site A" / f"{number}.png", "Red disc", seed=number)
        write_shape(tmp_path / "trip" / "site B" / f"{number}.png", "Blue disc", seed=10 + number)
        write_shape(
            tmp_path / "trip" / "Blue disc" / f"{number}.png", "Blue disc", seed=20 + number
        )
    return tmp_path / "trip"


def labelled(desk: Desk) -> set[str]:
    """Names of the classes with labels."""
    return {desk.label_of(int(each)) for each in desk.state.image_ids} - {""}


def made(desk: Desk, card: NewProjectCard, images: int) -> None:
    """Click "Create project", and wait for its images."""
    click(desk, card.create_button)
    desk.wait(lambda: desk.window.session.state is not None and len(desk.state.image_ids) == images)


@pytest.mark.slow
def test_folders_are_listed_with_counts_and_boxes(desk: Desk, sites: Path) -> None:
    """With two of three ticked, the box of their parent is partially checked."""
    card = dropped(desk, sites)
    folders = card.photos.list
    assert [(each.path.name, each.images) for each in folders.folders] == [
        ("trip", 6),
        ("Blue disc", 2),
        ("site A", 2),
        ("site B", 2),
    ]
    assert card.photos.total == "6 images"
    click_box(desk, folders, "site B", FOLDER)
    assert card.photos.total == "4 images"
    top = folders.model().index(0, FOLDER)
    assert Qt.CheckState(top.data(Qt.ItemDataRole.CheckStateRole)) is Qt.CheckState.PartiallyChecked
    made(desk, card, 4)
    assert not any("site B" in path for path in desk.state.paths)


@pytest.mark.slow
def test_folders_are_classes_only_where_they_were_ticked(desk: Desk, sites: Path) -> None:
    """One of three folders is a class; the others give no labels."""
    card = dropped(desk, sites)
    click(desk, card.classes.ways[ClassesFrom.FOLDERS], QPoint(8, 8))
    assert "Tick the folders that are classes" in card.classes.summary.text()
    click_box(desk, card.photos.list, "Blue disc")
    assert "1 folder is a class" in card.classes.summary.text()
    made(desk, card, 6)
    assert {desk.graph.name(each) for each in desk.graph.classes()} == {"Blue disc"}
    assert labelled(desk) == {"Blue disc"}
    assert np.count_nonzero(desk.state.label_class != NO_CLASS) == 2


@pytest.mark.slow
def test_all_folders_are_ticked_at_once(desk: Desk, sites: Path) -> None:
    """All folders except their parent are ticked, then none."""
    card = dropped(desk, sites)
    click(desk, card.classes.ways[ClassesFrom.FOLDERS], QPoint(8, 8))
    click(desk, card.classes.all_button)
    assert "3 folders are classes" in card.classes.summary.text()
    click(desk, card.classes.none_button)
    click(desk, card.classes.all_button)
    made(desk, card, 6)
    assert labelled(desk) == {"site A", "site B", "Blue disc"}


@pytest.mark.slow
def test_usual_names_of_parts_of_data_sets_are_pointed_out(desk: Desk, tmp_path: Path) -> None:
    """Its boxes are imported from other files."""
    write_shape(tmp_path / "set" / "train" / "0.png", "Red disc", seed=0)
    card = dropped(desk, tmp_path / "set")
    click(desk, card.classes.ways[ClassesFrom.FOLDERS], QPoint(8, 8))
    click_box(desk, card.photos.list, "train")
    assert card.classes.summary.text().startswith("train: usual names of parts of a data set")


@pytest.mark.slow
def test_photos_and_a_list_are_dropped_together(desk: Desk, sites: Path, tmp_path: Path) -> None:
    """The list gives the classes; only a folder named like one of them is ticked."""
    classes = write_graph(tmp_path / "classes.csv", {"Disc": ("Red disc", "Blue disc")})
    card = drop_on_first_page(desk, [sites, classes])
    assert card.classes.way is ClassesFrom.FILE
    assert card.classes.summary.text() == "3 classes on 2 levels: Disc"
    assert {path.name for path in card.photos.list.classes} == {"Blue disc"}
    made(desk, card, 6)
    assert {desk.graph.name(each) for each in desk.graph.roots()} == {"Disc"}
    assert labelled(desk) == {"Blue disc"}


@pytest.mark.slow
def test_a_table_of_labels_is_imported_next(desk: Desk, photos: Path, tmp_path: Path) -> None:
    """The sheet says so, and its import card opens in the new project."""
    table = tmp_path / "labels.csv"
    table.write_text("image,class\nfield trip/0.png,Red disc\n", encoding="utf-8")
    card = drop_on_first_page(desk, [photos, table])
    assert card.classes.way is ClassesFrom.NOWHERE
    assert (
        card.classes.labels_note.text()
        == "Labels are imported from labels.csv once the project is made."
    )
    made(desk, card, 5)
    labels = desk.window.of(LabelImports)
    desk.wait(
        lambda: (
            labels.card is not None and labels.card.isVisible() and labels.card.survey is not None
        )
    )
    assert labels.card is not None
    assert labels.card.survey is not None
    assert labels.card.survey.missing_images == ()  # the photos are already in the project
    desk.press(Key.Key_Escape)


@pytest.mark.slow
def test_a_typed_list_gives_the_classes(desk: Desk, photos: Path) -> None:
    """Indentation makes subclasses; Enter in the field is a new line."""
    card = dropped(desk, photos)
    click(desk, card.classes.ways[ClassesFrom.TEXT], QPoint(8, 8))
    assert card.classes.text.hasFocus()
    for key in ("Disc", Key.Key_Return, "  Red disc", Key.Key_Return, "Stripes"):
        target = card.classes.text
        desk.qtbot.keyClicks(target, key) if isinstance(key, str) else desk.qtbot.keyClick(
            target, key
        )
    made(desk, card, 5)
    assert {desk.graph.path_text(each) for each in desk.graph.leaves()} == {
        "Disc/Red disc",
        "Stripes",
    }


@pytest.mark.slow
def test_a_list_is_chosen_in_a_dialog_and_its_columns_are_named(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ambiguous columns are not guessed: the person assigns them."""
    (tmp_path / "list.csv").write_text("alpha;beta\nx1;Gull\nx2;Tern\n", encoding="utf-8")
    monkeypatch.setattr(
        QFileDialog, "getOpenFileName", lambda *_arguments: (str(tmp_path / "list.csv"), "")
    )
    monkeypatch.setattr("app.welcome.making.folder_for", lambda _purpose: tmp_path)
    desk.press(Key.Key_N, CONTROL | SHIFT)
    card = known_sheet(desk)
    click(desk, card.classes.ways[ClassesFrom.FILE], QPoint(8, 8))
    click(desk, card.classes.file_button)
    desk.wait(card.classes.columns.isVisible)
    click(desk, card.create_button)
    desk.qtbot.wait(50)
    assert desk.window.session.info is None
    box = card.classes.columns.boxes[1]
    box.setFocus()
    while box.currentData() != "class":
        desk.qtbot.keyClick(box, Key.Key_Down)
    desk.wait(lambda: card.classes.summary.text().startswith("2 classes"))
    made(desk, card, 0)
    desk.wait(lambda: {desk.graph.name(each) for each in desk.graph.classes()} == {"Gull", "Tern"})


@pytest.mark.slow
@pytest.mark.parametrize("way_out", ["esc", "close", "cancel", "restart"])
def test_closing_the_sheet_loses_nothing(
    desk: Desk, sites: Path, settings: Settings, way_out: str, qtbot: QtBot
) -> None:
    """Name, photos, boxes and classes are restored, also after a restart."""
    card = dropped(desk, sites)
    desk.qtbot.keyClicks(card.place.name, "spring")
    click_box(desk, card.photos.list, "site B", FOLDER)
    click(desk, card.classes.ways[ClassesFrom.FOLDERS], QPoint(8, 8))
    click_box(desk, card.photos.list, "Blue disc")
    other = desk
    if way_out == "esc":
        desk.press(Key.Key_Escape)
    elif way_out == "restart":
        desk.leave()
        other = Desk(qtbot, settings)
        other.wait(other.window.isActiveWindow)
    else:
        click(desk, card.close_button if way_out == "close" else card.keep_button)
    other.press(Key.Key_N, CONTROL | SHIFT)
    again = known_sheet(other)
    other.wait(lambda: again.place.name.text() == "spring")
    assert again.photos.total == "4 images"
    assert again.classes.way is ClassesFrom.FOLDERS
    assert {path.name for path in again.photos.list.classes} == {"Blue disc"}
    click(other, again.clear_button)
    other.wait(again.photos.drop_box.isVisible)
    assert (again.place.name.text(), again.classes.way) == ("", ClassesFrom.NOWHERE)
    other.leave()


@pytest.mark.slow
def test_what_was_made_is_not_suggested_again(desk: Desk, sites: Path, settings: Settings) -> None:
    """The next sheet is empty."""
    made(desk, dropped(desk, sites), 6)
    assert settings.new_project == ""
    desk.press(Key.Key_N, CONTROL | SHIFT)
    card = known_sheet(desk)
    assert card.photos.drop_box.isVisible()
    assert not card.clear_button.isVisible()
    desk.press(Key.Key_Escape)


@pytest.mark.slow
def test_a_sheet_is_whole_in_a_small_window(
    desk: Desk, sites: Path, tinyleaf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The buttons are always visible, and nothing is clipped."""
    offer_two(monkeypatch)
    offer(desk)
    desk.window.resize(820, 560)
    card = dropped(desk, sites)
    for way in ClassesFrom:
        click(desk, card.classes.ways[way], QPoint(8, 8))
        desk.wait(lambda: not clipped(card))
        assert (
            card.create_button.mapTo(card, card.create_button.rect().bottomLeft()).y()
            < card.height()
        )
    desk.press(Key.Key_Escape)


def test_a_broken_memory_of_the_sheet_is_no_memory() -> None:
    """Invalid settings are ignored."""
    for text in ("{", "[]", '{"photos": 3}', '{"classes_from": "nowhere"}', "null"):
        assert new_project_of(text) == NewProject()
    begun = NewProject(
        "a", Path("/b"), (Path("/c"),), frozenset({Path("/d")}), ClassesFrom.TEXT, class_text="Gull"
    )
    assert new_project_of(begun.as_text()) == begun
