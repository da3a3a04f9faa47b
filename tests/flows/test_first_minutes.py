"""From a folder of pictures to a classified collection."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFileDialog, QPushButton

from app.importing.controller import Importing
from app.status.job_bar import FailuresPopup
from app.welcome.controller import Projects
from app.welcome.logic import ClassesFrom
from engine.collection.state import NO_CLASS, ImageStatus
from engine.project import Project
from tests.support.collections import tree_hash, write_shape
from tests.support.desk import Desk
from tests.support.new_project import begin_with, drop_on_first_page, known_sheet
from tests.support.sessions import changed_by

LEAVES = ("Red disc", "Blue disc", "Green stripes")


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Three subfolders with two pictures each, and six pictures outside of them."""
    folder = tmp_path / "field trip"
    for leaf in LEAVES:
        for seed in range(2):
            write_shape(folder / leaf / f"{seed}.png", leaf, seed=seed)
    for number in range(6):
        write_shape(folder / f"unsorted {number}.png", LEAVES[number % 3], seed=10 + number)
    return folder


def with_folders_as_classes(desk: Desk, photos: Path) -> None:
    """Create a project of the photos with their subfolders as classes."""
    card = drop_on_first_page(desk, [photos])
    desk.qtbot.mouseClick(
        card.classes.ways[ClassesFrom.FOLDERS], Qt.MouseButton.LeftButton, pos=QPoint(8, 8)
    )
    desk.click(card.classes.all_button)
    desk.click(card.create_button)
    desk.wait(lambda: desk.window.session.state is not None and len(desk.state.image_ids) > 0)


@pytest.mark.slow
def test_a_dropped_folder_becomes_a_classified_collection(desk: Desk, photos: Path) -> None:
    """Drop, tick, create: every picture has a class, and no file was changed."""
    before = tree_hash(photos)
    assert desk.window.of(Projects).page.isVisible()
    with_folders_as_classes(desk, photos)
    assert {desk.graph.name(class_id) for class_id in desk.graph.classes()} == set(LEAVES)
    desk.wait_until_read()
    assert len(desk.state.image_ids) == 12
    assert np.count_nonzero(desk.state.label_class != NO_CLASS) == 6
    for place in np.flatnonzero(desk.state.label_class == NO_CLASS).tolist():
        number = int(Path(desk.state.paths[place]).stem.split()[1])
        assert desk.best_of(int(desk.state.image_ids[place])) == LEAVES[number % 3]
    assert tree_hash(photos) == before
    assert desk.window.settings.recent_projects() == [photos.parent / "field trip.protoleaf"]
    assert "field trip" in desk.window.windowTitle()


@pytest.mark.slow
def test_a_folder_and_a_list_lead_to_first_predictions(
    desk: Desk, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By mouse and keys: a folder, a class list, three labels, and predictions."""
    for name in LEAVES:
        (photos / name).rename(photos / f"site {LEAVES.index(name)}")
    listed = tmp_path / "classes.txt"
    listed.write_text("Disc\n  Red disc\n  Blue disc\nGreen stripes\n", encoding="utf-8")
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_arguments: str(photos))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_arguments: (str(listed), ""))
    desk.click(desk.window.of(Projects).page.buttons["new_project"])
    card = known_sheet(desk)
    desk.click(card.photos.drop_box)
    known_sheet(desk)
    assert card.photos.total == "12 images"
    desk.qtbot.mouseClick(
        card.classes.ways[ClassesFrom.FILE], Qt.MouseButton.LeftButton, pos=QPoint(8, 8)
    )
    desk.click(card.classes.file_button)
    known_sheet(desk)
    assert card.classes.summary.text() == "4 classes on 2 levels: Disc, Green stripes"
    desk.click(card.create_button)
    desk.wait(lambda: desk.window.session.state is not None and len(desk.state.image_ids) == 12)
    desk.wait_until_read()
    assert (desk.state.label_class == NO_CLASS).all()  # the sites are no classes
    for number in range(3):
        row = next(
            at
            for at, path in enumerate(desk.state.paths)
            if path.endswith(f"unsorted {number}.png")
        )
        desk.grid.setFocus()
        desk.grid.select_image(int(desk.state.image_ids[row]))
        desk.press(Qt.Key.Key_R)
        desk.type_into_palette(LEAVES[number])
        desk.press_for_change(Qt.Key.Key_Return)
    desk.wait(lambda: desk.window.session.is_settled)
    others = [row for row in range(12) if desk.state.label_class[row] == NO_CLASS]
    assert len(others) == 9
    named = [desk.best_of(int(desk.state.image_ids[row])) for row in others]
    assert set(named) <= {"Disc", *LEAVES}
    right = [
        LEAVES[int(path.stem.split()[1]) % 3]
        if "unsorted" in path.name
        else LEAVES[int(path.parent.name[-1])]
        for path in (Path(desk.state.paths[row]) for row in others)
    ]
    assert sum(one == other for one, other in zip(named, right, strict=True)) >= 6


@pytest.mark.slow
def test_the_same_folder_again_adds_nothing(desk: Desk, photos: Path) -> None:
    """Without classes nothing is labelled."""
    begin_with(desk, [photos])
    desk.wait(lambda: desk.window.session.state is not None and len(desk.state.image_ids) == 12)
    assert len(desk.graph) == 0
    assert (desk.state.label_class == NO_CLASS).all()
    desk.wait_until_read()
    desk.drop_files(desk.window, [photos])
    importing = desk.window.of(Importing)
    desk.wait(lambda: importing.card is not None and importing.card.isVisible())
    assert importing.card is not None
    desk.window.toast.hide()  # it was about the first twelve
    desk.click(importing.card.add_button)
    desk.wait(lambda: "12" in desk.window.toast.message)
    assert len(desk.state.image_ids) == 12


@pytest.mark.slow
def test_a_folder_dropped_on_a_class_teaches_it(desk: Desk, photos: Path, tmp_path: Path) -> None:
    """Two pictures label a class, and the other pictures are classified at once."""
    with_folders_as_classes(desk, photos)
    desk.wait_until_read()
    session = desk.window.session
    changed_by(
        desk.qtbot,
        session,
        lambda: session.act(lambda project: project.classes.add("Blue checks")[0]),
    )
    for seed in range(3):
        write_shape(tmp_path / "checks" / f"{seed}.png", "Blue checks", seed=seed)
    checks = desk.graph.find("Blue checks")
    changed_by(
        desk.qtbot,
        session,
        lambda: desk.window.tree.requests.files_dropped.emit(checks, [tmp_path / "checks"]),
    )
    assert desk.state.shot_counts[checks] == 3
    desk.wait_until_read()
    other = write_shape(tmp_path / "one more.png", "Blue checks", seed=9)
    (image_id,) = changed_by(
        desk.qtbot, session, lambda: desk.drop_files(desk.window, [other])
    ).images_added
    desk.wait_until_read()
    assert desk.best_of(image_id) == "Blue checks"


@pytest.mark.slow
def test_a_folder_without_images_says_so(desk: Desk, tmp_path: Path) -> None:
    """The sheet counts 0; nothing is added, and a message gives the reason."""
    (tmp_path / "empty").mkdir()
    card = drop_on_first_page(desk, [tmp_path / "empty"])
    assert card.photos.total == "0 images"
    desk.click(card.create_button)
    desk.wait(lambda: "No image" in desk.window.toast.message)
    assert len(desk.state.image_ids) == 0


@pytest.mark.slow
def test_files_of_other_kinds_are_named(desk: Desk, photos: Path) -> None:
    """The message about added images names skipped ones, and offers undo."""
    for name in ("1.psd", "2.PSD", "3.wmv", "1.xmp"):
        (photos / name).write_bytes(b"x")
    for name in LEAVES:
        shutil.rmtree(photos / name)
    begin_with(desk, [photos])
    desk.wait(lambda: "2 PSD, 1 WMV were skipped" in desk.window.toast.message)
    assert "6 images" in desk.window.toast.message
    assert len(desk.state.image_ids) == 6
    undo = next(
        button for button in desk.window.toast.findChildren(QPushButton) if button.text() == "Undo"
    )
    changed_by(
        desk.qtbot,
        desk.window.session,
        lambda: desk.qtbot.mouseClick(undo, Qt.MouseButton.LeftButton),
    )
    assert len(desk.state.image_ids) == 0


@pytest.mark.slow
def test_only_files_of_other_kinds(desk: Desk, tmp_path: Path) -> None:
    """None is added; the message gives the first reason and the number of others."""
    for number in range(3):
        (tmp_path / f"{number}.psd").write_bytes(b"8BPS\x00\x01" + bytes(20))
    begin_with(desk, sorted(tmp_path.glob("*.psd")))
    desk.wait(lambda: "0.psd and 2 more could not be added" in desk.window.toast.message)
    assert "Photoshop" in desk.window.toast.message
    assert len(desk.state.image_ids) == 0


@pytest.mark.slow
def test_a_vanished_folder_is_a_sentence(desk: Desk, photos: Path) -> None:
    """The sheet reports it, and the other files are added."""
    card = drop_on_first_page(desk, [photos / "gone", photos / "unsorted 0.png"])
    assert "gone" in card.photos.failure.text
    desk.click(card.create_button)
    desk.wait(lambda: desk.window.session.state is not None and len(desk.state.image_ids) == 1)
    desk.leave()
    with Project.open(photos / "gone.protoleaf") as project:
        assert project.check() == []


@pytest.mark.slow
def test_a_broken_picture_is_listed_and_the_rest_goes_on(desk: Desk, photos: Path) -> None:
    """The list has it with a reason; there is no dialog, and the others are embedded."""
    (photos / "unsorted 0.png").write_text("no picture", encoding="utf-8")
    with_folders_as_classes(desk, photos)
    desk.wait_until_read()
    failures = desk.window.embedding.failures
    assert [failure.path.name for failure in failures.values()] == ["unsorted 0.png"]
    assert np.count_nonzero(desk.state.best_class == NO_CLASS) == 1
    desk.window.registry.trigger("show_failures")
    (popup,) = desk.window.status_line.job_bar.findChildren(FailuresPopup)
    assert popup.isVisible()
    popup.close()
    write_shape(photos / "unsorted 0.png", "Red disc", seed=9)
    desk.press(Qt.Key.Key_F5)
    desk.wait(lambda: not np.any(desk.state.status == ImageStatus.FAILED))
    assert desk.window.embedding.failures == {}
