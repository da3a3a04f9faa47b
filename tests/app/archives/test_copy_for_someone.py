"""A copy for someone, end to end: exported, opened elsewhere, labelled, merged back."""

import shutil
import zipfile
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QWidget

from app.application import OpenedFiles
from app.archives.controller import Archives
from app.archives.view import CopyCard
from app.exporting.controller import Exporting
from app.image_view.preview_mark import preview_text
from app.merging.controller import Merging
from app.welcome.controller import Projects
from engine.archive.pack import pack_project
from engine.collection.embed import embed_project
from engine.images.reduced_photo import is_reduced
from engine.project import Project
from tests.support.archives import wide_project
from tests.support.clipping import clipped, overlapping
from tests.support.collections import cache_of_test
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.sessions import changed_by

Key = Qt.Key


def click(desk: Desk, part: QAbstractButton) -> None:
    """Click on a check box or button near its left edge."""
    assert part.isEnabled()
    assert part.isVisible()
    desk.qtbot.mouseClick(part, Qt.MouseButton.LeftButton, pos=QPoint(12, part.height() // 2))


def exported(desk: Desk, out: Path, *, has_previews: bool) -> None:
    """Export a copy from its card."""
    desk.press(Key.Key_E, CONTROL | SHIFT)
    card = desk.window.of(Exporting).card
    assert card is not None
    click(desk, card.formats.buttons["copy"])
    desk.wait(lambda: card.look is not None)
    click(desk, card.details.photos[has_previews])
    desk.wait(lambda: card.look is not None)
    card.target.setFocus()
    card.target.selectAll()
    desk.qtbot.keyClicks(card.target, str(out))
    desk.wait(lambda: card.look is not None)
    click(desk, card.export_button)
    desk.wait(out.exists)
    desk.wait(lambda: not card.isVisible())


def dropped(desk: Desk, target: QWidget, archive: Path) -> CopyCard:
    """Drop a copy onto a part of the window; return its card once it is read."""
    desk.drop_files(target, [archive])
    return shown_card(desk)


def shown_card(desk: Desk) -> CopyCard:
    feature = desk.window.of(Archives)
    desk.wait(
        lambda: (
            feature.card is not None and feature.card.isVisible() and feature.card.look is not None
        )
    )
    assert feature.card is not None
    return feature.card


def is_open(desk: Desk, path: Path) -> bool:
    info = desk.window.session.info
    return info is not None and info.path == path and desk.window.session.state is not None


@pytest.fixture
def trip(tmp_path: Path) -> Path:
    """A project of four wide, embedded photos, one of them labelled."""
    with wide_project(tmp_path / "ada") as project:
        project.labels.set([1], project.classes.graph.find("Fox"), who="ada")
        embed_project(project, cache_of_test(), device="cpu")
        return project.path


@pytest.mark.slow
def test_a_copy_with_previews_goes_out_is_labelled_and_comes_back(
    desk: Desk, trip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, back = tmp_path / "mail" / "trip.protoleafz", tmp_path / "mail" / "back.protoleafz"
    out.parent.mkdir()
    desk.open(trip)
    exported(desk, out, has_previews=True)
    assert "Copied the project and 4 photos to trip.protoleafz" in desk.window.toast.message
    card = dropped(desk, desk.window.workspace.grid, out)
    assert card.title.text() == "Project “trip”"
    assert card.folder.text() == str(tmp_path / "mail" / "trip")
    desk.press(Key.Key_Return)
    theirs = tmp_path / "mail" / "trip" / "trip.protoleaf"
    desk.wait(lambda: is_open(desk, theirs))
    desk.wait(lambda: desk.window.toast.message.startswith("The photos are previews"))
    desk.wait_until_read()
    assert is_reduced(tmp_path / "mail" / "trip" / "site A" / "IMG_0.jpg")
    assert not desk.state.outdated
    assert desk.label_of(1) == "Fox"
    image_id = next(
        each for each in (desk.choose(row) for row in range(4)) if not desk.label_of(each)
    )
    desk.press(Key.Key_Space)  # opens the image
    canvas = desk.window.workspace.image_view.canvas
    desk.wait(lambda: canvas.has_image)
    assert preview_text(canvas._image).startswith("Preview only")  # noqa: SLF001 (the painted image)
    desk.press(Key.Key_Escape)
    desk.press(Key.Key_R)
    desk.type_into_palette("Hare")
    desk.press_for_change(Key.Key_Return)
    exported(desk, back, has_previews=False)
    desk.open(trip)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_given: (str(back), ""))
    desk.window.trigger("merge_copy")
    merge_card = desk.window.of(Merging).card
    assert merge_card is not None
    desk.wait(lambda: merge_card.survey is not None)
    assert merge_card.summary == "1 label will be added"
    changed_by(
        desk.qtbot, desk.window.session, lambda: desk.qtbot.keyClick(merge_card, Key.Key_Return)
    )
    assert (desk.label_of(1), desk.label_of(image_id)) == ("Fox", "Hare")
    desk.wait_until_read()
    assert not desk.state.outdated


@pytest.mark.slow
def test_a_copy_is_opened_from_the_first_page_the_dialog_and_the_system(
    desk: Desk, trip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy is opened by drop, file dialog or double click; Esc changes nothing."""
    out = tmp_path / "trip.protoleafz"
    with Project.open(trip) as project:
        pack_project(project, cache_of_test(), out)
    card = dropped(desk, desk.window.of(Projects).page, out)
    desk.press(Key.Key_Escape)
    assert not card.isVisible()
    assert not (tmp_path / "trip").exists()
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_given: (str(out), ""))
    desk.press(Key.Key_O, CONTROL)
    assert shown_card(desk).look is not None
    desk.press(Key.Key_Escape)
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    opened = OpenedFiles(application, desk.window.open_soon)
    QApplication.sendEvent(desk.window, QFileOpenEvent(QUrl.fromLocalFile(str(out))))
    application.removeEventFilter(opened)
    card = shown_card(desk)
    desk.qtbot.keyClicks(card.folder, " new")
    desk.wait(card.open_button.isEnabled)
    click(desk, card.open_button)
    desk.wait(lambda: is_open(desk, tmp_path / "trip new" / "trip.protoleaf"))


@pytest.mark.slow
def test_a_copy_that_comes_back_is_dropped_and_merged(
    desk: Desk, trip: Path, tmp_path: Path
) -> None:
    """The card offers to merge the copy into the open project."""
    theirs = tmp_path / "ben.protoleaf"
    shutil.copyfile(trip, theirs)
    with Project.open(theirs, is_backed_up=False) as project:
        project.labels.set([2], project.classes.graph.find("Hare"), who="ben")
        pack_project(project, cache_of_test(), tmp_path / "back.protoleafz")
    first = dropped(desk, desk.window.of(Projects).page, tmp_path / "back.protoleafz")
    assert not first.merge_button.isVisible()
    desk.press(Key.Key_Escape)
    desk.open(trip)
    card = dropped(desk, desk.window.workspace.grid, tmp_path / "back.protoleafz")
    assert card.merge_button.text() == "Merge into trip"
    click(desk, card.merge_button)
    merging = desk.window.of(Merging)
    desk.wait(lambda: merging.card is not None and merging.card.survey is not None)
    assert merging.card is not None
    changed_by(
        desk.qtbot, desk.window.session, lambda: desk.qtbot.keyClick(merging.card, Key.Key_Return)
    )
    assert desk.label_of(2) == "Hare"
    assert not (tmp_path / "back").exists()


@pytest.mark.slow
def test_a_copy_begins_the_program(desk: Desk, trip: Path, tmp_path: Path) -> None:
    """`protoleaf FILE` shows the card on top of the start page."""
    with Project.open(trip) as project:
        pack_project(project, cache_of_test(), tmp_path / "trip.protoleafz")
    desk.window.begin(tmp_path / "trip.protoleafz")
    card = shown_card(desk)
    assert desk.window.of(Projects).page.isVisible()
    click(desk, card.open_button)
    desk.wait(lambda: is_open(desk, tmp_path / "trip" / "trip.protoleaf"))
    assert not desk.window.toast.message.startswith("The photos are previews")


@pytest.mark.slow
def test_why_a_copy_cannot_be_opened_stands_on_the_card(
    desk: Desk, tmp_path: Path, trip: Path
) -> None:
    """An invalid or truncated copy, a taken folder, a full disk; nothing is written."""
    (tmp_path / "odd.protoleafz").write_bytes(b"PK\x03\x04 odd")
    desk.drop_files(desk.window.of(Projects).page, [tmp_path / "odd.protoleafz"])
    feature = desk.window.of(Archives)
    desk.wait(lambda: feature.card is not None and bool(feature.card.failure.text))
    assert feature.card is not None
    assert "is not a copy of a Protoleaf project, or is damaged" in feature.card.failure.text
    assert not feature.card.open_button.isEnabled()
    desk.press(Key.Key_Escape)
    with Project.open(trip) as project:
        pack_project(project, cache_of_test(), tmp_path / "trip.protoleafz")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine.txt").write_text("mine")
    card = dropped(desk, desk.window.of(Projects).page, tmp_path / "trip.protoleafz")
    card.folder.setFocus()
    card.folder.selectAll()
    desk.qtbot.keyClicks(card.folder, str(tmp_path / "taken"))
    desk.wait(lambda: bool(card.failure.text))
    assert "This name is already taken" in card.failure.text
    assert not card.open_button.isEnabled()
    with zipfile.ZipFile(tmp_path / "trip.protoleafz", "a") as opened:
        opened.writestr("../evil.jpg", b"x")
    desk.press(Key.Key_Escape)
    desk.drop_files(desk.window.of(Projects).page, [tmp_path / "trip.protoleafz"])
    desk.wait(lambda: "outside of its folder" in card.failure.text)


@pytest.mark.slow
def test_the_cards_fit(desk: Desk, trip: Path, tmp_path: Path) -> None:
    """No text is clipped and no widgets overlap, in the export and in the copy's card."""
    desk.open(trip)
    desk.press(Key.Key_E, CONTROL | SHIFT)
    card = desk.window.of(Exporting).card
    assert card is not None
    click(desk, card.formats.buttons["copy"])
    desk.wait(lambda: card.look is not None)
    assert card.details.losses.text() == "•  Backbones that you added yourself are not included."
    assert card.details.photos[True].text().startswith("Previews of ")
    desk.wait(lambda: not clipped(card))
    assert not overlapping(card)
    desk.press(Key.Key_Escape)
    with Project.open(trip, for_writing=False) as project:
        pack_project(project, cache_of_test(), tmp_path / "trip.protoleafz", is_reduced=True)
    copy_card = dropped(desk, desk.window.workspace.grid, tmp_path / "trip.protoleafz")
    desk.wait(lambda: not clipped(copy_card))
    assert not overlapping(copy_card)
