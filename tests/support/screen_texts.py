"""All texts of a window, visible or accessible, and untranslated words in them."""

import calendar
import re
from collections.abc import Collection, Iterable, Iterator
from itertools import product
from typing import final

import pytest
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex
from PySide6.QtGui import QAccessible, QAction, QKeySequence, QPainter, Qt, QTextDocumentFragment
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QTabBar, QTableWidget, QWidget

PROPERTIES = (
    "text",
    "toolTip",
    "placeholderText",
    "accessibleName",
    "accessibleDescription",
    "windowTitle",
    "title",
    "statusTip",
    "whatsThis",
    "prefix",
    "suffix",
    "specialValueText",
)
ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole,
    Qt.ItemDataRole.AccessibleDescriptionRole,
)
FIRST = 30
"""Rows read of a list."""
NAMES = frozenset(
    (
        "Protoleaf",
        "CoreML",
        "DirectML",
        "TensorRT",
        "cuDNN",
        "cuBLAS",
        "cuBLASLt",
        "Tesla",
        "Caffe",
        "ImageNet",
        "timm",
        "torchvision",
        "macOS",
        "pip",
        "install",
        "uninstall",
        "protoleaf",
        "onnx",
        "onnxruntime",
        "gpu",
        "cuda",
        "cudnn",
        "cublas",
        "tensorrt",
        "nvidia",
        "cu",
        "smi",
        "WebP",
        "Ctrl",
        "Shift",
        "Alt",
        "Esc",
        "Del",
        "Space",
        "Tab",
        "Home",
        "End",
        "Enter",
        "Return",
        "Ins",
        "PgUp",
        "PgDown",
        "Backspace",
        "Left",
        "Right",
        "Up",
        "Down",
        "Prodigy",
    )
)
"""Names of products, commands, devices and keys, equal in every language."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_UNSEEN = dict.fromkeys(map(ord, "\u200b\u2066\u2068\u2069&"))
"""Line break opportunities, directional isolates, and mnemonics."""
_FIELD = (
    r"(?<!\w)(?:name|folder|date|camera|class|keyword|comment|stars|size|width|height|"
    r"score|source|count|has|is):\S*"
)
_FILE = re.compile(
    (
        r"[^\[·]*\.protoleaf|/[^·\n]*…[^·\n]*|\S*/\S*|\S+\.\w{2,4}\b|[0-9a-f]{8,"
        r"}|[a-z]+(?:_[a-z]+)+|`[^`]*`|"
    )
    + _FIELD
)
"""Paths, also elided, file names, checksums, columns, commands and search fields."""
_DAY = re.compile(rf"\d{{1,2}}\s(?:{'|'.join(calendar.month_abbr[1:])})\s\d{{4}}")
"""A day in the locale of tests: `27 Nov 2026`."""
_RATE = re.compile(r"/s\b")  # `5 images/s` is no path
_PLAIN = re.compile(r"[aeiounycsAEIOUNYCS]")
"""Letters that have an accent in the pseudo-language."""


def shared_mnemonics(texts: Iterable[str]) -> list[str]:
    """Texts of one menu or dialog with the same mnemonic: `Ö: &Öffnen, An&öden`."""
    owners: dict[str, list[str]] = {}
    for text in texts:
        if mnemonic := QKeySequence.mnemonic(text).toString(
            QKeySequence.SequenceFormat.PortableText
        ):
            owners.setdefault(mnemonic.rpartition("+")[2], []).append(text)
    return [
        f"{letter}: {', '.join(several)}" for letter, several in owners.items() if len(several) > 1
    ]


def english_words(text: str, data: Collection[str] = ()) -> list[str]:
    """Untranslated words of a text in the pseudo-language.

    Args:
        text: plain or rich.
        data: names of classes, files and people, and texts that are not translated.
    """
    plain = QTextDocumentFragment.fromHtml(text).toPlainText() if Qt.mightBeRichText(text) else text
    plain = plain.translate(_UNSEEN)
    for path in sorted(
        (name for name in data if "/" in name), key=len, reverse=True
    ):  # with spaces
        plain = plain.replace(path, " ")
    plain = _FILE.sub(" ", _RATE.sub(" ", _DAY.sub(" ", plain)))
    for name in sorted(data, key=len, reverse=True):
        plain = plain.replace(name, " ")
    return [
        word
        for word in _WORD.findall(plain)
        if _PLAIN.search(word) and not word.isupper() and word not in NAMES
    ]


def texts_of(root: QWidget) -> Iterator[tuple[str, str]]:
    """Kind of widget and text of all below `root`, also hidden, without tables of file contents."""
    for widget in (root, *root.findChildren(QWidget)):
        if isinstance(widget, QTableWidget) or isinstance(widget.parent(), QTableWidget | QTabBar):
            continue  # the arrows of a tab bar have Qt's names
        yield from ((type(widget).__name__, text) for text in _texts_of(widget) if text)
    for action in root.findChildren(QAction):
        yield from (
            ("QAction", text) for text in (action.text(), action.toolTip(), action.statusTip())
        )


def _texts_of(widget: QWidget) -> Iterator[str]:
    if isinstance(widget, QComboBox):
        yield from map(widget.itemText, range(widget.count()))
    elif isinstance(widget, QTabBar):
        yield from map(widget.tabText, range(widget.count()))
        yield from map(widget.tabToolTip, range(widget.count()))
    elif isinstance(widget, QAbstractItemView) and widget.model() is not None:
        yield from _texts_in(widget.model())
    yield from (text for name in PROPERTIES if isinstance(text := widget.property(name), str))
    part = QAccessible.queryAccessibleInterface(widget)
    if part is not None:
        yield from map(part.text, (QAccessible.Text.Name, QAccessible.Text.Description))


def _texts_in(model: QAbstractItemModel) -> Iterator[str]:
    above = [QModelIndex()]
    for parent in above:  # grows during the loop
        columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount(parent)
        for row, column in product(range(min(model.rowCount(parent), FIRST)), range(columns)):
            index = model.index(row, column, parent)
            yield from (text for role in ROLES if isinstance(text := model.data(index, role), str))
            above += [] if column else [index]
        for section, role in product(range(0 if parent.isValid() else columns), ROLES):
            text = model.headerData(section, Qt.Orientation.Horizontal, role)
            if isinstance(text, str):
                yield text


@final
class PaintedTexts:
    """Texts painted directly, which are no widget's text."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._texts: set[str] = set()
        for name in ("drawText", "drawStaticText"):
            self._watch(monkeypatch, name)

    def taken(self) -> set[str]:
        """Texts since the last call."""
        texts, self._texts = self._texts, set()
        return texts

    def _watch(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        draw = getattr(QPainter, name)

        def watched(painter: QPainter, *args: object) -> object:
            drawn = [arg for arg in args if _has_text(arg)]
            self._texts |= {arg if isinstance(arg, str) else arg.text() for arg in drawn}  # type: ignore[attr-defined]
            return draw(painter, *args)

        monkeypatch.setattr(QPainter, name, watched)


def _has_text(arg: object) -> bool:
    return isinstance(arg, str) or hasattr(arg, "text")  # QStaticText
