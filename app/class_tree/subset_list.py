"""The fixed rows above the classes: all images, to review, labelled, unknown, could not be read."""

from typing import Any, Final, final

from PySide6.QtCore import QAbstractListModel, QItemSelection, QLocale, QModelIndex, QObject, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent, QPainter
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.class_requests import ClassRequests
from app.class_tree.delegate import COUNT_MARGIN, ROW_HEIGHT, Ground, caption_font, paint_ground
from app.class_tree.row_data import AnyIndex
from app.dragging import Dragged, DraggedImages, read_dragged
from app.drops import LazyChip
from app.session.subsets import Subset, subset_text
from app.texts import plain_tip, plural, tr
from app.theme.icons import icon_pixmap
from app.theme.tokens import tokens
from app.wording import images, titled

ICON_SIDE: Final = 16
MORE_GAP: Final = 8  # between a number and by how much it moved
NOTABLE: Final = 10  # images; a smaller move is not worth a look
_ICONS: Final = {
    Subset.ALL: "show_all",
    Subset.TO_REVIEW: "show_to_review",
    Subset.LABELLED: "show_labelled",
    Subset.UNKNOWN: "show_unknown",
    Subset.FAILED: "broken_image",
}
_SUBSETS: Final = tuple(Subset)


@final
class _SubsetModel(QAbstractListModel):
    """The fixed rows and their counts."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.counts = dict.fromkeys(Subset, 0)
        self.more_unknown, self._why = 0, ""

    def set_counts(self, counts: dict[Subset, int]) -> None:
        self.counts = counts
        self.dataChanged.emit(self.index(0), self.index(len(_SUBSETS) - 1))

    def explain_unknown(self, more: int, why: str) -> None:
        self.more_unknown, self._why = more, why
        self.dataChanged.emit(self.index(0), self.index(len(_SUBSETS) - 1))

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        return 0 if parent.isValid() else len(_SUBSETS)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        subset = _SUBSETS[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return subset_text(subset)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return titled(subset_text(subset), QLocale().toString(self.counts[subset]))
        if role == Qt.ItemDataRole.ToolTipRole and subset is Subset.UNKNOWN:
            return plain_tip(self._why) or None
        return None


@final
class _SubsetDelegate(QStyledItemDelegate):
    """Icon, name, quiet count; failures in the warning colour."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: AnyIndex) -> QSize:
        return QSize(0, ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        subset = _SUBSETS[index.row()]
        model, view = index.model(), self.parent()
        assert isinstance(model, _SubsetModel)
        assert isinstance(view, SubsetList)
        count, is_target = model.counts[subset], view.lit is subset
        is_selected = bool(state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if is_target or is_selected or state & QStyle.StateFlag.State_MouseOver:
            ground = Ground.TARGET if is_target else Ground.CHOSEN if is_selected else Ground.HOVERED
            paint_ground(painter, rect, ground)
        _paint_icon(painter, rect, subset, is_selected=is_selected, is_alarm=subset is Subset.FAILED and count > 0)
        more = model.more_unknown if subset is Subset.UNKNOWN and abs(model.more_unknown) >= NOTABLE else 0
        _paint_words(painter, rect, subset, count, more)
        painter.restore()


def _paint_icon(painter: QPainter, rect: QRect, subset: Subset, *, is_selected: bool, is_alarm: bool) -> None:
    colour = "warning" if is_alarm else "accent_text" if is_selected else "text_secondary"
    picture = icon_pixmap(_ICONS[subset], ICON_SIDE, colour=colour, ratio=painter.device().devicePixelRatio())
    painter.drawPixmap(rect.x() + 14, rect.y() + (rect.height() - ICON_SIDE) // 2, picture)


def _paint_words(painter: QPainter, rect: QRect, subset: Subset, count: int, more: int) -> None:
    colours = tokens().colours
    centre = Qt.AlignmentFlag.AlignVCenter
    painter.setPen(QColor(colours.text))
    painter.drawText(rect.adjusted(40, 0, 0, 0), centre | Qt.AlignmentFlag.AlignLeft, subset_text(subset))
    if count:
        painter.setFont(caption_font(painter.font()))
        painter.setPen(QColor(colours.text_muted))
        place = rect.adjusted(0, 0, -COUNT_MARGIN, 0)
        text = QLocale().toString(count)
        painter.drawText(place, centre | Qt.AlignmentFlag.AlignRight, text)
        place.adjust(0, 0, -painter.fontMetrics().horizontalAdvance(text) - MORE_GAP, 0)
        words = ("+" if more > 0 else "\N{MINUS SIGN}") + QLocale().toString(abs(more)) if more else ""
        painter.setPen(QColor(colours.accent_text))
        painter.drawText(place, centre | Qt.AlignmentFlag.AlignRight, words)


def drop_on_subset(dragged: Dragged, subset: Subset) -> str:
    """`Label 12 images as none of the classes`, `Remove the labels of 12 images`; "" where a drop means nothing."""
    if not isinstance(dragged, DraggedImages):
        return ""
    count = len(dragged.image_ids)
    if subset is Subset.UNKNOWN:
        return tr("Label %1 as none of the classes", images(count))
    if subset is Subset.TO_REVIEW:
        return plural(count, "Remove the label of 1 image", "Remove the labels of %n images")
    return ""


@final
class SubsetList(QListView):
    """Chooses a fixed row, and takes images where that means something."""

    subset_selected = Signal(Subset)

    def __init__(self, requests: ClassRequests) -> None:
        super().__init__()
        self._requests, self.rows = requests, _SubsetModel(self)
        self.setModel(self.rows)
        self.setItemDelegate(_SubsetDelegate(self))
        self.setUniformItemSizes(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setStyleSheet("QListView { padding: 0; }")
        self.setFixedHeight(ROW_HEIGHT * len(_SUBSETS))
        self.setAccessibleName(tr("Views of all images"))
        self.setAcceptDrops(True)
        self.is_editable = False
        self.lit: Subset | None = None
        self._chip = LazyChip(self)

    def select_subset(self, subset: Subset) -> None:
        self.setCurrentIndex(self.rows.index(_SUBSETS.index(subset)))

    @property
    def selected_subset(self) -> Subset | None:
        chosen = self.selectionModel().selectedIndexes()
        return _SUBSETS[chosen[0].row()] if chosen else None

    def clear_choice(self) -> None:
        self.selectionModel().clear()

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        """Announce what was chosen. Taking the focus makes a row the current one too, but chooses nothing."""
        super().selectionChanged(selected, deselected)
        if (subset := self.selected_subset) is not None:
            self.subset_selected.emit(subset)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        event.accept()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        dragged, subset = read_dragged(event.mimeData()), self._subset_at(event)
        text = drop_on_subset(dragged, subset) if self.is_editable and dragged and subset else ""
        self._light_up(subset if text else None)
        if not text or dragged is None:
            event.ignore()
            return
        self._chip.say(text, self.viewport().mapToGlobal(event.position().toPoint()), dragged)
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()

    def dragLeaveEvent(self, _event: QDragLeaveEvent) -> None:
        self._light_up(None)

    def dropEvent(self, event: QDropEvent) -> None:
        dragged, subset = read_dragged(event.mimeData()), self._subset_at(event)
        self._light_up(None)
        if isinstance(dragged, DraggedImages) and self.is_editable and subset and drop_on_subset(dragged, subset):
            event.accept()
            self._requests.images_dropped.emit(subset, dragged.image_ids)
        else:
            event.ignore()

    def _subset_at(self, event: QDropEvent) -> Subset | None:
        index = self.indexAt(event.position().toPoint())
        return _SUBSETS[index.row()] if index.isValid() else None

    def _light_up(self, subset: Subset | None) -> None:
        if subset is None:
            self._chip.hide()
        if subset is not self.lit:
            self.lit = subset
            self.viewport().update()
