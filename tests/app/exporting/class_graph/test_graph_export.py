"""Exporting the category graph from the window: file dialog, written file, errors."""

import io
from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog

from app.exporting.class_graph import picture
from app.exporting.class_graph.controller import TITLES, GraphExport, filter_text
from app.exporting.class_graph.logic import OfferedFormat, chosen_format, offered_formats
from app.exporting.class_graph.picture import png_of
from engine.collection.outputs import is_own_output
from engine.exporting.export_graph import GRAPH_FORMATS
from engine.graph_drawing.svg import DARK, LIGHT
from engine.interchange.detect import read_graph
from tests.support.desk import Desk
from tests.support.widgets import button

OFFERED = {each.name: each for each in offered_formats()}
SQUARE = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 300 200">'
    b'<rect width="300" height="200"/></svg>'
)


class Dialog:
    """A file dialog in which a name is typed and a format chosen."""

    def __init__(self, target: Path, name: str) -> None:
        self.answer = str(target), filter_text(OFFERED[name])
        self.asked: tuple[object, ...] = ()

    def __call__(self, *asked: object) -> tuple[str, str]:
        """Record the arguments of the dialog."""
        self.asked = asked
        return self.answer


def exported(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, target: Path, name: str
) -> tuple[Dialog, str]:
    """Export by the action; returns the dialog and the toast's message."""
    dialog = Dialog(target, name)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", dialog)
    before = desk.window.toast.message
    desk.window.registry.trigger("export_graph")
    desk.wait(lambda: desk.window.toast.message != before)
    return dialog, desk.window.toast.message


def test_every_format_is_offered_with_its_words() -> None:
    """The engine's formats and a picture, one row each."""
    assert OFFERED.keys() == TITLES.keys()
    assert {each.kind for each in OFFERED.values()} == {*GRAPH_FORMATS, "png"}
    assert len({filter_text(each) for each in OFFERED.values()}) == len(OFFERED)


@pytest.mark.parametrize(
    ("written", "row", "target", "name"),
    [
        ("classes", "graphml", "classes.graphml", "graphml"),
        ("classes.v2", "svg", "classes.v2.svg", "svg"),
        ("classes.TTL", "json", "classes.TTL", "skos"),
        ("classes.svg", "svg-dark", "classes.svg", "svg-dark"),
        ("classes.png", "svg-dark", "classes.png", "png-dark"),
        ("classes.csv", "png-dark", "classes.csv", "csv"),
    ],
)
def test_the_name_says_more_than_the_row(written: str, row: str, target: str, name: str) -> None:
    """A typed suffix decides; without one that of the row is appended."""
    assert chosen_format(Path(written), OFFERED[row]) == (Path(target), OFFERED[name])


@pytest.mark.slow
def test_written_and_shown(
    reviewing: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dialog starts next to the project, later in the last folder; the folder can be opened."""
    shown: list[QUrl] = []

    def open_url(url: QUrl) -> bool:
        shown.append(url)
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    count = len(reviewing.graph)
    (tmp_path / "out").mkdir()
    dialog, message = exported(reviewing, monkeypatch, tmp_path / "out" / "shapes", "graphml")
    info = reviewing.window.session.info
    assert info is not None
    assert dialog.asked[2] == str(info.path.parent / f"{info.path.stem}-classes.json")
    assert message == f"Exported {count} classes to shapes.graphml"
    graph = read_graph(tmp_path / "out" / "shapes.graphml")
    assert {each.name for each in graph.classes} == {
        reviewing.graph.name(each) for each in reviewing.graph.classes()
    }
    reviewing.qtbot.mouseClick(
        button(reviewing.window.toast, "Show in folder"), Qt.MouseButton.LeftButton
    )
    assert shown == [QUrl.fromLocalFile(str(tmp_path / "out"))]
    dialog, message = exported(reviewing, monkeypatch, tmp_path / "dark.svg", "svg-dark")
    assert dialog.asked[2] == str(tmp_path / "out" / f"{info.path.stem}-classes.graphml")
    assert dialog.asked[4] == filter_text(OFFERED["graphml"])
    drawing = (tmp_path / "dark.svg").read_text(encoding="utf-8")
    assert DARK.ground in drawing
    widths = {part.split('"')[0] for part in drawing.split('stroke-width="')[1:]}
    # Each class inherits from its only parent; without weights it would be 1.00.
    assert widths == {"4.00"}


@pytest.mark.slow
def test_a_picture(reviewing: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Light background, cards with borders, and names: dark pixels in each card."""
    exported(reviewing, monkeypatch, tmp_path / "shapes", "png")
    with Image.open(tmp_path / "shapes.png") as image:
        counted = image.convert("RGB").getcolors(maxcolors=1 << 24)
    assert counted is not None
    colours = {"#" + bytes(colour).hex() for _, colour in counted if isinstance(colour, tuple)}
    assert {LIGHT.ground, LIGHT.card, LIGHT.text} <= colours


@pytest.mark.slow
def test_what_is_refused_is_shown(
    reviewing: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing folder, and the project file itself; nothing is written."""
    _, message = exported(reviewing, monkeypatch, tmp_path / "none" / "shapes", "csv")
    assert message.startswith("The graph cannot be written")
    info = reviewing.window.session.info
    assert info is not None
    before = info.path.read_bytes()
    reviewing.window.of(GraphExport).export(info.path, OfferedFormat("json", ".json"))
    reviewing.wait(lambda: "would overwrite the project" in reviewing.window.toast.message)
    assert info.path.read_bytes() == before


def test_pictures_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture is sharper than on screen where possible, else limited to the largest size."""
    content, room = png_of(SQUARE)
    with Image.open(io.BytesIO(content)) as image:
        assert (image.size, room) == ((600, 400), 1)
    monkeypatch.setattr(picture, "LONGEST_SIDE", 150)
    content, room = png_of(SQUARE)
    with Image.open(io.BytesIO(content)) as image:
        assert (image.size, room) == ((150, 100), 0.25)
    monkeypatch.setattr(picture, "MOST_PIXELS", 600)
    with Image.open(io.BytesIO(png_of(SQUARE)[0])) as image:
        assert image.size == (30, 20)


@pytest.mark.slow
def test_a_name_that_the_dialog_did_not_know_is_asked_about(
    reviewing: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dialog asks before overwriting the typed name; the window asks for a name with suffix."""
    theirs = tmp_path / "shapes.svg"
    theirs.write_text("theirs", encoding="utf-8")
    _, message = exported(reviewing, monkeypatch, tmp_path / "shapes", "svg")
    assert message == "shapes.svg is another file, not an export like this one."
    assert theirs.read_text(encoding="utf-8") == "theirs"
    reviewing.qtbot.mouseClick(button(reviewing.window.toast, "Replace"), Qt.MouseButton.LeftButton)
    reviewing.wait(lambda: theirs.read_bytes() != b"theirs")
    assert is_own_output(theirs, "graph-svg")


@pytest.mark.slow
def test_an_earlier_picture_is_replaced_unasked(
    reviewing: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported(reviewing, monkeypatch, tmp_path / "shapes", "png")
    assert is_own_output(tmp_path / "shapes.png", "graph-png")
    before = (tmp_path / "shapes.png").stat().st_ino
    monkeypatch.setattr(QFileDialog, "getSaveFileName", Dialog(tmp_path / "shapes", "png"))
    reviewing.window.registry.trigger("export_graph")
    reviewing.wait(lambda: (tmp_path / "shapes.png").stat().st_ino != before)
