"""Finds untranslated and clipped texts on screens in the pseudo-language."""

import os
from collections.abc import Iterable
from typing import final

from PySide6.QtWidgets import QAbstractButton, QApplication, QMenu, QTabBar, QTableWidget, QWidget

from app.language import language_names
from engine.collection.models import find_model
from engine.interchange.labelled_images.box_formats import TITLES
from tests.support.clipping import clipped
from tests.support.collections import FAMILIES, FAMILY_OF, LEAVES
from tests.support.desk import Desk
from tests.support.screen_texts import PaintedTexts, english_words, shared_mnemonics, texts_of

PICTURES = "PROTOLEAF_PICTURES"
"""Environment variable of a folder for screenshots."""
CARD = find_model().card
PATHS = tuple(f"{FAMILY_OF[leaf]}/{leaf}" for leaf in LEAVES)
DATA = (
    *(f"shots/{path}" for path in PATHS),
    *PATHS,
    *(f"/{leaf}" for leaf in LEAVES),
    "unsorted",
    "PPN",
    "PPN+",
    *LEAVES,
    *FAMILIES,
    *TITLES.values(),
    CARD.name,
    CARD.description,
    CARD.training_data,
    "Tiny ImageNet",
    *CARD.licence.rstrip(".").split(". "),
    "tinyleaf",
    "otherleaf",
    "shapes",
    *language_names().values(),
    "Anonymous",
    "shapes-folders",
    "ada",
    "grace",
    "Purple",
    "spiral",
    "zigzag",
    "Disc",
    "*.graphml",
    "*.jsonld",
    "*.names",
)
"""Names in the collection, and texts of model cards."""


TURNS = 8
"""Turns of the event loop until a result of a thread is laid out, one result per turn."""


@final
class Reader:
    """Visits screens and collects problems, without duplicates."""

    def __init__(self, desk: Desk, painted: PaintedTexts) -> None:
        self.desk, self.wrong = desk, list[str]()
        self.finds_english = True  # in real languages some words equal English ones
        self._painted, self._seen = painted, set[str]()

    def read(self, screen: str, root: QWidget | None = None) -> None:
        """Read the screen, or a window over it."""
        for _turn in range(TURNS):
            QApplication.sendPostedEvents()
            QApplication.processEvents()
        root = root or self.desk.window
        if PICTURES in os.environ:
            root.grab().save(f"{os.environ[PICTURES]}/{screen}.png")
        texts = *texts_of(root), *(("painted", text) for text in self._painted.taken())
        for part, text in texts:
            self.read_text(f"{screen}, {part}", text)
        scrolling = {
            bar.accessibleName() for bar in root.findChildren(QTabBar) if bar.usesScrollButtons()
        }
        for text in {*clipped(root)} - scrolling:
            self._note(screen, f"is cut: {text}")
        buttons = (
            button.text() for button in root.findChildren(QAbstractButton) if button.isVisible()
        )
        self._read_mnemonics(screen, buttons)

    def read_menu(self, screen: str, menu: QMenu) -> None:
        """Read an open menu and close it."""
        self.read(screen, menu)
        self._read_mnemonics(screen, (action.text() for action in menu.actions()))
        for action in menu.actions():
            self.read_text(f"{screen}, entry", action.text())
            self.read_text(f"{screen}, tip", action.toolTip())
        menu.close()

    def read_table(self, screen: str, table: QTableWidget, *columns: int) -> None:
        """Read a table's header, and cells of columns without names."""
        for place in range(table.columnCount()):
            header = table.horizontalHeaderItem(place)
            self.read_text(f"{screen}, header", "" if header is None else header.text())
        for row in range(table.rowCount()):
            for place in columns:
                cell = table.item(row, place)
                self.read_text(f"{screen}, cell", "" if cell is None else cell.text())

    def read_text(self, place: str, text: str) -> None:
        """Read a text."""
        if self.finds_english and (words := english_words(text, DATA)):
            self._note(place, f"is English: {' '.join(words)!r} in {text[:200]!r}")

    def _read_mnemonics(self, screen: str, texts: Iterable[str]) -> None:
        for fault in shared_mnemonics(texts):
            self._note(screen, f"has one mnemonic twice: {fault}")

    def _note(self, place: str, fault: str) -> None:
        if fault not in self._seen:
            self._seen.add(fault)
            self.wrong.append(f"{place} {fault}")
