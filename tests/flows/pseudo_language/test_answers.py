"""Messages after actions, in the pseudo-language."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from app.exporting.controller import Exporting
from app.exporting.view import ExportCard
from app.status.job_bar import FailuresPopup
from engine.errors import StorageError
from engine.interchange.labelled_images import class_folders
from engine.new_folder import Placing, place_file
from engine.project import BackupReason, Change, Project
from engine.project.actions import UNNAMED
from engine.project.backups.keeping import ProjectBackups
from tests.support.collections import Collection, write_shape
from tests.support.desk import CONTROL, Desk
from tests.support.pseudo_reader import Reader
from tests.support.sessions import act

pytestmark = pytest.mark.slow

Key = Qt.Key


def test_labels(reviewing: Desk, reader: Reader) -> None:
    """Labels of one image in the status line, of several in a toast; and rejected actions."""
    reviewing.window.registry.trigger("show_all")
    for key in (Key.Key_1, Key.Key_U, Key.Key_X):
        reviewing.choose(30)
        reviewing.press_for_change(key)
        assert reviewing.window.status_line.label_mark.text
        reader.read(f"label-{key.name}")
    for key in (Key.Key_1, Key.Key_U, Key.Key_X):
        reviewing.grid.setFocus()
        reviewing.grid.selectAll()
        reviewing.press_for_change(key)
        assert reviewing.window.toast.message
        reader.read(f"labels-{key.name}")
    for key in (Key.Key_Z, Key.Key_Y):
        reviewing.press_for_change(key, CONTROL)
        reader.read(f"labels-{key.name}")
    reviewing.choose(0)
    reviewing.press(Key.Key_9)
    reader.read("no-such-digit")


def edits(desk: Desk) -> dict[str, Callable[[Project], Change]]:
    """Edits of classes by name, to be applied in order."""
    graph = desk.graph
    red, blue, disc, other = (graph.find(name) for name in ("Red", "Blue", "Red disc", "Blue disc"))
    return {
        "added": lambda project: project.classes.add("Purple", [red])[0],
        "renamed": lambda project: project.classes.rename(disc, "Red checks (2)"),
        "linked": lambda project: project.classes.link(blue, [disc]),
        "unlinked": lambda project: project.classes.unlink([(red, disc)]),
        "moved": lambda project: project.classes.move([(disc, blue)], None),
        "noted": lambda project: project.classes.set_attributes(
            [disc], note="ada", colour="#102030"
        ),
        "merged": lambda project: project.classes.merge([disc], other),
        "removed": lambda project: project.classes.remove([other]),
        "images-removed": lambda project: project.images.remove(
            [project.images.records()[0].image_id]
        ),
    }


def test_edits_of_classes(reviewing: Desk, reader: Reader) -> None:
    """The message about each, and about its undo."""
    session = reviewing.window.session
    for name, edit in edits(reviewing).items():
        act(reviewing.qtbot, session, edit)
        assert reviewing.window.toast.message
        reader.read(name)
    reviewing.grid.setFocus()
    reviewing.press_for_change(Key.Key_Z, CONTROL)
    reader.read("undone")


def test_a_backup_that_cannot_be_made(
    reviewing: Desk, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large edit is applied although its backup fails."""

    def refuse(_backups: ProjectBackups, *_words: object, **_more: object) -> None:
        raise StorageError(
            "backups cannot be written to this folder", found="{path}", path="/backups"
        )

    def step(project: Project) -> Change:
        with project.history.one_step(backup=BackupReason.REMOVAL) as step:
            step.action = UNNAMED
            project.classes.rename(reviewing.graph.find("Red"), "Blue checks (2)")
        return step.change

    monkeypatch.setattr(ProjectBackups, "take", refuse)
    act(reviewing.qtbot, reviewing.window.session, step)
    reviewing.wait(lambda: "/backups" in reviewing.window.toast.message)
    reader.read("no-backup")


def opened(desk: Desk, name: str) -> ExportCard:
    """The export card with a format."""
    desk.window.registry.trigger("export")
    card = desk.window.of(Exporting).card
    assert card is not None
    card.formats.choose(name)
    desk.wait(lambda: card.look is not None and card.export_button.isEnabled())
    return card


def exported(desk: Desk, card: ExportCard) -> str:
    """Export; returns the message."""
    desk.window.toast.hide()
    card.export_button.click()
    desk.wait(lambda: not card.isVisible() and bool(desk.window.toast.message))
    return desk.window.toast.message


def test_exports(
    reviewing: Desk, collection: Collection, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Complete, with a missing file, and over another file of that name."""
    exported(reviewing, opened(reviewing, "csv"))
    reader.read("exported")
    monkeypatch.setattr(class_folders, "place_file", refusing(place_file))
    card = opened(reviewing, "folders")
    card.details.flat.click()
    reviewing.wait(card.export_button.isEnabled)
    exported(reviewing, card)
    reader.read("exported-in-part")
    (collection.folder / "other.csv").write_bytes(b"%PDF")
    card = opened(reviewing, "csv")
    card.target.setFocus()
    card.target.selectAll()
    reviewing.qtbot.keyClicks(card.target, str(collection.folder / "other.csv"))
    reviewing.wait(lambda: card.look is not None and bool(card.look.replaced_kind))
    reader.read("export-over-another-file")
    reviewing.press(Key.Key_Escape)


def refusing(place: Callable[[Path, Path, Placing], None]) -> Callable[[Path, Path, Placing], None]:
    """A replacement of `place_file` that fails for one file."""

    def placed(source: Path, target: Path, how: Placing) -> None:
        place(source.with_name("gone.png") if source.name == "0.png" else source, target, how)

    return placed


def test_added_images(
    reviewing: Desk, collection: Collection, reader: Reader, tmp_path: Path
) -> None:
    """Images, other files, and no new images."""
    window = reviewing.window
    folder = tmp_path / "new"
    write_shape(folder / "new.png", "Red disc", seed=99)
    (folder / "folder.png").mkdir()
    (folder / "pipe.png").symlink_to("gone.png")
    (folder / "video.mov").write_bytes(b"")
    for name, files in {
        "added": [folder / "new.png"],
        "added-in-part": [folder, folder / "pipe.png"],
        "nothing-new": [folder / "new.png"],
        "nothing-there": [folder / "video.mov"],
    }.items():
        window.toast.hide()
        reviewing.drop_files(window.workspace.grid, files)
        reviewing.wait(lambda: bool(window.toast.message))
        reader.read(name)
        reviewing.wait_until_read()


def test_files_that_cannot_be_read(reviewing: Desk, reader: Reader, tmp_path: Path) -> None:
    """The translated reason: at once, and read from the project file."""
    (tmp_path / "broken.jpg").write_bytes(b"no picture")
    (tmp_path / "empty.png").write_bytes(b"")
    (tmp_path / "page.png").write_bytes(b"<!DOCTYPE html><html></html>")
    window = reviewing.window
    reviewing.drop_files(window.workspace.grid, sorted(tmp_path.glob("*.*g")))
    reviewing.wait_until_read()
    reader.read("unreadable")
    window.registry.trigger("show_failures")
    (popup,) = window.status_line.job_bar.findChildren(FailuresPopup)
    reader.read("failures", popup)
    popup.close()
