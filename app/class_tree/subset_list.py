"""The list above the classes: subsets such as "labelled", and saved searches."""

from collections.abc import Sequence
from typing import Any, final

from PySide6.QtCore import (
    QAbstractListModel,
    QItemSelection,
    QLocale,
    QModelIndex,
    QObject,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QKeyEvent,
    QPainter,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from app.actions.menu_keys import dress_menu
from app.class_requests import ClassRequests
from app.class_tree.delegate import COUNT_MARGIN, ROW_HEIGHT, Ground, caption_font, paint_ground
from app.class_tree.row_data import AnyIndex
from app.dragging import Dragged, DraggedImages, read_dragged
from app.drops import LazyChip
from app.mirroring import placed
from app.painting import paint_icon, paint_text
from app.session.saved_searches import SavedSearch
from app.session.subsets import Subset, subset_text
from app.texts import plain_tip, plural, tr
from app.theme.icons import icon
from app.wording import images, titled

ICON_SIDE = 16  # logical pixels
TEXT_START = 40  # logical pixels, right of the icon
MORE_GAP = 8  # between a count and its change
NOTABLE = 10  # images; a smaller change is not shown
_ICONS = {
    Subset.ALL: "show_all",
    Subset.TO_REVIEW: "show_to_review",
    Subset.LABELLED: "show_labelled",
    Subset.UNKNOWN: "show_unknown",
    Subset.FAILED: "broken_image",
}
_SUBSETS = tuple(Subset)
# Saved searches visible without scrolling. Chosen: leaves most of the pane to the classes.
MOST_ROWS = 6

RowSubject = Subset | SavedSearch


@final
class _SubsetModel(QAbstractListModel):
    """Model of the subsets, then the saved searches, with their counts."""

    rename_requested = Signal(str, str)  # old and new name of a saved search

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.counts = dict.fromkeys(Subset, 0)
        self.searches: tuple[SavedSearch, ...] = ()
        self.is_editable = False
        self.more_unknown, self._why = 0, ""

    def set_counts(self, counts: dict[Subset, int]) -> None:
        self.counts = counts
        self.dataChanged.emit(self.index(0), self.index(len(_SUBSETS) - 1))

    def set_searches(self, searches: Sequence[SavedSearch]) -> None:
        """Replace the saved searches, or only their counts."""
        if [each.name for each in searches] == [each.name for each in self.searches]:
            self.searches = tuple(searches)
            self.dataChanged.emit(self.index(0), self.index(self.rowCount() - 1))
            return
        self.beginResetModel()
        self.searches = tuple(searches)
        self.endResetModel()

    def explain_unknown(self, more: int, why: str) -> None:
        self.more_unknown, self._why = more, why
        self.dataChanged.emit(self.index(0), self.index(len(_SUBSETS) - 1))

    def subject(self, index: AnyIndex) -> RowSubject:
        row = index.row()
        return _SUBSETS[row] if row < len(_SUBSETS) else self.searches[row - len(_SUBSETS)]

    def count_of(self, subject: RowSubject) -> int | None:
        return subject.count if isinstance(subject, SavedSearch) else self.counts[subject]

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        return 0 if parent.isValid() else len(_SUBSETS) + len(self.searches)

    def flags(self, index: AnyIndex) -> Qt.ItemFlag:
        can_rename = self.is_editable and isinstance(self.subject(index), SavedSearch)
        return super().flags(index) | (
            Qt.ItemFlag.ItemIsEditable if can_rename else Qt.ItemFlag.NoItemFlags
        )

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        subject = self.subject(index)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return _text(subject)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return titled(_text(subject), QLocale().toString(self.count_of(subject) or 0))
        if role == Qt.ItemDataRole.ToolTipRole and subject is Subset.UNKNOWN:
            return plain_tip(self._why) or None
        if role == Qt.ItemDataRole.ToolTipRole and isinstance(subject, SavedSearch):
            return plain_tip(subject.query)
        return None

    def setData(self, index: AnyIndex, value: Any, _role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Request a new name; the row changes when the project does."""
        subject, name = self.subject(index), str(value).strip()
        if isinstance(subject, SavedSearch) and name and name != subject.name:
            self.rename_requested.emit(subject.name, name)
        return False


def _meaning(subject: RowSubject | None) -> str | None:
    """The query or subset of a row, independent of its name."""
    return subject.query if isinstance(subject, SavedSearch) else subject


def _text(subject: RowSubject) -> str:
    return subject.name if isinstance(subject, SavedSearch) else subset_text(subject)


@final
class _SubsetDelegate(QStyledItemDelegate):
    """Paints icon, name and count; failures in the warning colour."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: AnyIndex) -> QSize:
        return QSize(0, ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        model, view = index.model(), self.parent()
        assert isinstance(model, _SubsetModel)
        assert isinstance(view, SubsetList)
        subset = model.subject(index)
        count, is_target = model.count_of(subset) or 0, view.lit is not None and view.lit is subset
        is_selected = bool(state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if is_target or is_selected or state & QStyle.StateFlag.State_MouseOver:
            ground = (
                Ground.TARGET if is_target else Ground.CHOSEN if is_selected else Ground.HOVERED
            )
            paint_ground(painter, rect, ground)
        _paint_icon(
            painter,
            rect,
            subset,
            is_selected=is_selected,
            is_alarm=subset is Subset.FAILED and count > 0,
        )
        more = (
            model.more_unknown
            if subset is Subset.UNKNOWN and abs(model.more_unknown) >= NOTABLE
            else 0
        )
        _paint_words(painter, rect, subset, count, more)
        painter.restore()


def _paint_icon(
    painter: QPainter, rect: QRect, subject: RowSubject, *, is_selected: bool, is_alarm: bool
) -> None:
    name = "search" if isinstance(subject, SavedSearch) else _ICONS[subject]
    colour = "warning" if is_alarm else "accent_text" if is_selected else "text_secondary"
    place = QRect(rect.x() + 14, rect.y() + (rect.height() - ICON_SIDE) // 2, ICON_SIDE, ICON_SIDE)
    paint_icon(painter, placed(place, rect), name, colour)


def _paint_words(
    painter: QPainter, rect: QRect, subject: RowSubject, count: int, more: int
) -> None:
    room, font, figures = rect.adjusted(0, 0, -COUNT_MARGIN, 0), painter.font(), caption_font()
    side = Qt.AlignmentFlag.AlignRight
    if count:
        text = QLocale().toString(count)
        used = paint_text(painter, placed(room, rect), text, figures, "text_muted", side=side)
        room.adjust(0, 0, -used - MORE_GAP, 0)
    if count and more:
        sign = "+" if more > 0 else "\N{MINUS SIGN}"
        text = f"{sign}{QLocale().toString(abs(more))}"
        paint_text(painter, placed(room, rect), text, figures, "accent_text", side=side)
    room.setLeft(rect.x() + TEXT_START)
    paint_text(painter, placed(room, rect), _text(subject), font, "text")


def drop_on_subset(dragged: Dragged, subset: Subset) -> str:
    """`Label 12 images as none of the classes`, ...; "" if a drop is not possible."""
    if not isinstance(dragged, DraggedImages):
        return ""
    count = len(dragged.image_ids)
    if subset is Subset.UNKNOWN:
        return tr("Label {1} as none of the classes", images(count))
    if subset is Subset.TO_REVIEW:
        return plural(count, "Remove the label of 1 image", "Remove the labels of {n} images")
    return ""


@final
class SubsetList(QListView):
    """List to select a subset or a saved search; accepts dropped images."""

    subset_selected = Signal(Subset)
    search_selected = Signal(str)  # query of a saved search
    removal_requested = Signal(str)  # name of a saved search

    def __init__(self, requests: ClassRequests) -> None:
        super().__init__()
        self._requests, self.rows = requests, _SubsetModel(self)
        self.setModel(self.rows)
        self.setItemDelegate(_SubsetDelegate(self))
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setStyleSheet("QListView { padding: 0; }")
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.rows.modelReset.connect(self._fit_height)
        self._fit_height()
        self.setAccessibleName(tr("Views of all images"))
        self.setAcceptDrops(True)
        self.lit: Subset | None = None
        self._chip = LazyChip(self)

    @property
    def is_editable(self) -> bool:
        return self.rows.is_editable

    @is_editable.setter
    def is_editable(self, is_editable: bool) -> None:
        self.rows.is_editable = is_editable

    def show_searches(self, searches: Sequence[SavedSearch]) -> None:
        """Show the saved searches; the selection is kept, even if it was renamed."""
        chosen = _meaning(self.selected)
        self.blockSignals(True)
        self.rows.set_searches(searches)
        every = (self.rows.index(row) for row in range(self.rows.rowCount()))
        kept = next(
            (index for index in every if _meaning(self.rows.subject(index)) == chosen), None
        )
        if kept is not None:
            self.setCurrentIndex(kept)
        self.blockSignals(False)

    def _fit_height(self) -> None:
        shown = len(_SUBSETS) + min(len(self.rows.searches), MOST_ROWS)
        self.setFixedHeight(ROW_HEIGHT * shown)

    @property
    def selected(self) -> RowSubject | None:
        chosen = self.selectionModel().selectedIndexes()
        return self.rows.subject(chosen[0]) if chosen else None

    def select_subset(self, subset: Subset) -> None:
        self.setCurrentIndex(self.rows.index(_SUBSETS.index(subset)))

    @property
    def selected_subset(self) -> Subset | None:
        chosen = self.selected
        return chosen if isinstance(chosen, Subset) else None

    def clear_choice(self) -> None:
        self.selectionModel().clear()

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        """Emit the new selection; a row that only becomes current by focus is not selected."""
        super().selectionChanged(selected, deselected)
        subject = self.selected
        if isinstance(subject, SavedSearch):
            self.search_selected.emit(subject.query)
        elif subject is not None:
            self.subset_selected.emit(subject)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show a menu for the saved search at the pointer, or the current one if opened by key."""
        is_by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if is_by_key else self.indexAt(event.pos())
        subject = self.rows.subject(index) if index.isValid() else None
        if not self.is_editable or not isinstance(subject, SavedSearch):
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(icon("rename"), tr("Rename…"), lambda: self.edit(index)).setObjectName(
            "rename"
        )
        remove = menu.addAction(
            icon("delete"), tr("Remove"), lambda: self.removal_requested.emit(subject.name)
        )
        remove.setObjectName("delete")
        dress_menu(menu)
        menu.popup(
            self.viewport().mapToGlobal(
                self.visualRect(index).center() if is_by_key else event.pos()
            )
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Remove a saved search by Delete."""
        chosen = self.selected
        if (
            event.key() == Qt.Key.Key_Delete
            and self.is_editable
            and isinstance(chosen, SavedSearch)
        ):
            self.removal_requested.emit(chosen.name)
        else:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        event.accept()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        dragged, subset = read_dragged(event.mimeData()), self._subset_at(event)
        text = drop_on_subset(dragged, subset) if self.is_editable and dragged and subset else ""
        self._light_up(subset if text else None)
        if not text or dragged is None:
            event.ignore()
            return
        self._chip.show_message(
            text, self.viewport().mapToGlobal(event.position().toPoint()), dragged
        )
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()

    def dragLeaveEvent(self, _event: QDragLeaveEvent) -> None:
        self._light_up(None)

    def dropEvent(self, event: QDropEvent) -> None:
        dragged, subset = read_dragged(event.mimeData()), self._subset_at(event)
        self._light_up(None)
        if (
            isinstance(dragged, DraggedImages)
            and self.is_editable
            and subset
            and drop_on_subset(dragged, subset)
        ):
            event.accept()
            self._requests.images_dropped.emit(subset, dragged.image_ids)
        else:
            event.ignore()

    def _subset_at(self, event: QDropEvent) -> Subset | None:
        index = self.indexAt(event.position().toPoint())
        subject = self.rows.subject(index) if index.isValid() else None
        return subject if isinstance(subject, Subset) else None

    def _light_up(self, subset: Subset | None) -> None:
        if subset is None:
            self._chip.hide()
        if subset is not self.lit:
            self.lit = subset
            self.viewport().update()
