"""Every screen in the pseudo-language: nothing is English still, and nothing is cut although all is 40 % longer."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, final

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QTabBar, QWidget

from app.application import LANGUAGE_VARIABLE, install_language
from app.backbones.logic import Source
from app.computing.controller import Computing
from app.exporting.controller import Exporting
from app.jobs.process_job import Stage
from app.status.job_bar import FailuresPopup
from app.texts import speak
from app.training.controller import Models
from app.welcome.controller import Projects
from app.wording import sentence
from engine.collection.models import find_model
from engine.embedding.messages import MeasuredRates
from engine.runtime.devices.reasons import why_not_cuda
from engine.training.curve import TrainingDuration
from tests.engine.runtime.devices.test_cuda_reasons import CASES
from tests.support.backbone_panel import panel_for
from tests.support.clipping import clipped
from tests.support.collections import FAMILIES, LEAVES
from tests.support.desk import Desk
from tests.support.offers import offer_two
from tests.support.screen_texts import PaintedTexts, english_words, texts_of
from tests.support.scripted_workers import Player
from tests.support.sessions import settle
from tests.support.surveys import WITHOUT_GPU

SIZE: Final = (1440, 900)
PICTURES: Final = "PROTOLEAF_PICTURES"
"""Names a folder for a picture of each screen."""
CARD: Final = find_model().card
DATA: Final = (
    *LEAVES, *FAMILIES, CARD.name, CARD.description, CARD.training_data, "Tiny ImageNet",
    *CARD.licence.rstrip(".").split(". "), "tinyleaf", "shapes", "ada",
)  # fmt: skip
"""Names in the collection, and what cards of networks say."""


@pytest.fixture(autouse=True)
def pseudo_language(qapp: QApplication, pseudo_translations: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The window speaks it while a test runs."""
    monkeypatch.setenv(LANGUAGE_VARIABLE, str(pseudo_translations))
    install_language(qapp)
    yield
    speak(None)


@final
class Reader:
    """Goes from screen to screen and keeps what is wrong there, each thing once."""

    def __init__(self, desk: Desk, painted: PaintedTexts) -> None:
        self.desk, self.wrong = desk, list[str]()
        self._painted, self._seen = painted, set[str]()

    def read(self, screen: str, root: QWidget | None = None) -> None:
        """Read what is on the screen, or a window over it."""
        QApplication.sendPostedEvents()
        QApplication.processEvents()
        root = root or self.desk.window
        if PICTURES in os.environ:
            root.grab().save(f"{os.environ[PICTURES]}/{screen}.png")
        texts = *texts_of(root), *(("painted", text) for text in self._painted.taken())
        for part, text in texts:
            self.read_text(f"{screen}, {part}", text)
        scrolling = {bar.accessibleName() for bar in root.findChildren(QTabBar) if bar.usesScrollButtons()}
        for text in {*clipped(root)} - scrolling:
            self._note(screen, f"is cut: {text}")

    def read_text(self, place: str, text: str) -> None:
        """Read one text."""
        if words := english_words(text, DATA):
            self._note(place, f"is English: {' '.join(words)!r} in {text[:200]!r}")

    def _note(self, place: str, fault: str) -> None:
        if fault not in self._seen:
            self._seen.add(fault)
            self.wrong.append(f"{place} {fault}")


@pytest.fixture
def reader(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    """Reads at a usual size; dialogs of the system are cancelled, and their texts read."""
    desk.window.resize(*SIZE)
    reader = Reader(desk, PaintedTexts(monkeypatch))

    def cancelled(answer: object) -> Callable[..., object]:
        def dialog(
            _parent: QWidget | None, title: str, _start: str = "", kinds: str = "", *_more: object, **_options: object
        ) -> object:
            for text in (title, *kinds.split(";;")):
                reader.read_text("dialog", text.split(" (*")[0])
            return answer

        return dialog

    for name, answer in DIALOGS.items():
        monkeypatch.setattr(QFileDialog, name, cancelled(answer))
    yield reader
    assert not reader.wrong, "\n".join(reader.wrong)


DIALOGS: Final = {
    "getOpenFileName": ("", ""), "getOpenFileNames": ([], ""), "getSaveFileName": ("", ""), "getExistingDirectory": "",
}  # fmt: skip


def test_before_a_project(desk: Desk, reader: Reader, tinyleaf: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first page, and the card of a new project."""
    reader.read("welcome")
    offer_two(monkeypatch)
    making = desk.window.of(Projects).making
    making.measuring.make_job = Player([MeasuredRates({})])
    making.begin()
    desk.wait(lambda: making.card is not None and making.card.isVisible())
    desk.wait(lambda: making.measuring.stage is Stage.DONE)
    reader.read("new-project")


SCREENS: Final[Sequence[str]] = (
    "tune_propagation", "train_backbone", "show_model_versions", "backups", "find_moved_images", "show_suggestions",
    "show_keys", "settings", "command_palette", "relabel", "show_graph", "open_image", "rename_class", "move_class",
    "link_parent", "merge_class", "new_class", "new_sibling", "new_parent", "new_top_class", "copy_report",
    "export_graph", "import_labels", "import_classes", "what_if", "show_changed_images", "discard_what_if",
    "split_class", "undo", "redo",
)  # fmt: skip
"""Actions that open something, or answer."""


def test_every_action(reviewing: Desk, reader: Reader) -> None:
    """Whatever an action opens, with an image and a class chosen."""
    window = reviewing.window
    window.of(Models).forecast._make_job = Player(*[[TrainingDuration(1.0, 40.0)]] * 3)  # noqa: SLF001 (a scripted job)
    reader.read("images")
    reviewing.choose(0)
    reader.read("image-chosen")
    window.tree.select_class(reviewing.graph.find("Red disc"))
    settle(reviewing.qtbot, window.session)
    reader.read("class-chosen")
    for name in SCREENS:
        window.registry.trigger(name)
        settle(reviewing.qtbot, window.session)
        reader.read(name)
        reviewing.press(Qt.Key.Key_Escape)


def test_cards_that_take_their_time(reviewing: Desk, reader: Reader, tmp_path: Path) -> None:
    """Devices, formats, imports, backbones: once they know what they show."""
    window = reviewing.window
    computing, exporting = window.of(Computing), window.of(Exporting)
    computing.looking.make_job = Player([WITHOUT_GPU])
    window.registry.trigger("choose_device")
    reviewing.wait(lambda: computing.looking.stage is Stage.DONE)
    reader.read("devices")
    reviewing.press(Qt.Key.Key_Escape)
    window.registry.trigger("export")
    card = exporting.card
    assert card is not None
    for name in card.formats.buttons:
        card.formats.choose(name)
        reviewing.wait(lambda: card.look is not None)
        reader.read(f"export-{name}")
    reviewing.press(Qt.Key.Key_Escape)
    for source in Source:
        panel_for(reviewing, source)
        reader.read(f"backbones-{source}")


def test_files_that_cannot_be_read(reviewing: Desk, reader: Reader, tmp_path: Path) -> None:
    """Why, in the person's language: when it happens, and from the project file."""
    (tmp_path / "broken.jpg").write_bytes(b"no picture")
    (tmp_path / "empty.png").write_bytes(b"")
    window = reviewing.window
    reviewing.drop_files(window.workspace.grid, [tmp_path / "broken.jpg", tmp_path / "empty.png"])
    reviewing.wait_until_read()
    window.registry.trigger("show_failures")
    (popup,) = window.status_line.job_bar.findChildren(FailuresPopup)
    reader.read("failures", popup)
    popup.close()


@pytest.mark.parametrize("name", CASES)
def test_why_a_gpu_is_not_used(name: str, reader: Reader) -> None:
    """Every reason and remedy."""
    reason = why_not_cuda(CASES[name][0])
    assert reason is not None
    reader.read_text("why", sentence(reason.words))
    reader.read_text("remedy", sentence(reason.remedy))
