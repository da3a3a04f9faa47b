"""The fixed rows above the classes: all images, to review, labelled, unknown, could not be read."""

from typing import Any, Final, final

from PySide6.QtCore import (
    QAbstractListModel,
    QCoreApplication,
    QItemSelection,
    QLocale,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.class_tree.delegate import COUNT_MARGIN, ROW_HEIGHT, caption_font
from app.class_tree.logic import Shelf
from app.texts import QT_TRANSLATE_NOOP
from app.theme.icons import icon_pixmap
from app.theme.tokens import tokens

AnyIndex = QModelIndex | QPersistentModelIndex

ICON_SIDE: Final = 16
_CONTEXT: Final = "class_tree"
_TEXTS: Final[dict[Shelf, str]] = {
    Shelf.ALL: QT_TRANSLATE_NOOP("class_tree", "All images"),
    Shelf.TO_REVIEW: QT_TRANSLATE_NOOP("class_tree", "To review"),
    Shelf.LABELLED: QT_TRANSLATE_NOOP("class_tree", "Labelled"),
    Shelf.UNKNOWN: QT_TRANSLATE_NOOP("class_tree", "Unknown"),
    Shelf.FAILED: QT_TRANSLATE_NOOP("class_tree", "Could not be read"),
}
_ICONS: Final = {
    Shelf.ALL: "show_all",
    Shelf.TO_REVIEW: "show_to_review",
    Shelf.LABELLED: "show_labelled",
    Shelf.UNKNOWN: "show_unknown",
    Shelf.FAILED: "broken_image",
}
_SHELVES: Final = tuple(Shelf)


def shelf_text(shelf: Shelf) -> str:
    """Name of a fixed row in the person's language."""
    return QCoreApplication.translate(_CONTEXT, _TEXTS[shelf])


@final
class _ShelfModel(QAbstractListModel):
    """The fixed rows and their counts."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.counts = dict.fromkeys(Shelf, 0)

    def set_counts(self, counts: dict[Shelf, int]) -> None:
        """Show other counts."""
        self.counts = counts
        self.dataChanged.emit(self.index(0), self.index(len(_SHELVES) - 1))

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        """Count the built rows below `parent`."""
        return 0 if parent.isValid() else len(_SHELVES)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Read one value of a row."""
        shelf = _SHELVES[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return shelf_text(shelf)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{shelf_text(shelf)}: {QLocale().toString(self.counts[shelf])}"
        return None


@final
class _ShelfDelegate(QStyledItemDelegate):
    """Icon, name, quiet count; what failed is said in the warning colour."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: AnyIndex) -> QSize:
        """Ask for room."""
        return QSize(0, ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Paint one cell."""
        look = tokens()
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        shelf = _SHELVES[index.row()]
        model = index.model()
        assert isinstance(model, _ShelfModel)
        count = model.counts[shelf]
        is_selected = bool(state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if is_selected or state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(look.colours.accent_soft if is_selected else look.colours.hover))
            shape = rect.adjusted(look.spacing.tiny, 1, -look.spacing.tiny, -1)
            painter.drawRoundedRect(shape, look.spacing.radius_small, look.spacing.radius_small)
        _paint_icon(painter, rect, shelf, is_selected=is_selected, is_alarm=shelf is Shelf.FAILED and count > 0)
        _paint_words(painter, rect, shelf, count)
        painter.restore()


def _paint_icon(painter: QPainter, rect: QRect, shelf: Shelf, *, is_selected: bool, is_alarm: bool) -> None:
    colour = "warning" if is_alarm else "accent_text" if is_selected else "text_secondary"
    picture = icon_pixmap(_ICONS[shelf], ICON_SIDE, colour=colour, ratio=painter.device().devicePixelRatio())
    painter.drawPixmap(rect.x() + 14, rect.y() + (rect.height() - ICON_SIDE) // 2, picture)


def _paint_words(painter: QPainter, rect: QRect, shelf: Shelf, count: int) -> None:
    colours = tokens().colours
    centre = Qt.AlignmentFlag.AlignVCenter
    painter.setPen(QColor(colours.text))
    painter.drawText(rect.adjusted(40, 0, 0, 0), centre | Qt.AlignmentFlag.AlignLeft, shelf_text(shelf))
    if count:
        painter.setFont(caption_font(painter.font()))
        painter.setPen(QColor(colours.text_muted))
        place = rect.adjusted(0, 0, -COUNT_MARGIN, 0)
        painter.drawText(place, centre | Qt.AlignmentFlag.AlignRight, QLocale().toString(count))


@final
class ShelfList(QListView):
    """Chooses a fixed row.

    Signals:
        shelf_selected: a `Shelf`.
    """

    shelf_selected = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = _ShelfModel(self)
        self.setModel(self._model)
        self.setItemDelegate(_ShelfDelegate(self))
        self.setUniformItemSizes(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setStyleSheet("QListView { padding: 0; }")
        self.setFixedHeight(ROW_HEIGHT * len(_SHELVES))
        self.setAccessibleName(self.tr("Views of the whole collection"))

    def set_counts(self, counts: dict[Shelf, int]) -> None:
        """Show how many images each row holds."""
        self._model.set_counts(counts)

    def select_shelf(self, shelf: Shelf) -> None:
        """Choose a row."""
        self.setCurrentIndex(self._model.index(_SHELVES.index(shelf)))

    @property
    def selected_shelf(self) -> Shelf | None:
        """The chosen row; None when a class is chosen instead."""
        chosen = self.selectionModel().selectedIndexes()
        return _SHELVES[chosen[0].row()] if chosen else None

    def clear_choice(self) -> None:
        """Choose no row, silently."""
        self.selectionModel().clear()

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        """Say what was chosen. Taking the focus makes a row the current one too, but chooses nothing."""
        super().selectionChanged(selected, deselected)
        shelf = self.selected_shelf
        if shelf is not None:
            self.shelf_selected.emit(shelf)
