"""The header of the grid: title, counts, subset chips, order, zoom, images or graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QLayout,
    QPushButton,
    QSizePolicy,
    QSlider,
    QToolButton,
    QWidget,
)

from app.actions.key_tips import set_key_tip
from app.controls import ElidedLabel, dress_list, fill_row, make_icon_button, make_label
from app.image_grid.geometry import LARGEST_SIDE, SMALLEST_SIDE
from app.image_grid.held_order import Order
from app.session.subsets import Subset
from app.texts import fill, marked, plain_tip, plural, tr
from app.wording import SEPARATOR, images, number
from app.workspace.changed_badge import ChangedBadge, SortAgain

if TYPE_CHECKING:
    from engine.collection.state import ChangedImages


@final
class ViewSwitch(QWidget):
    """Switches between images and graph."""

    graph_chosen = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self._group = QButtonGroup(self)
        self.images = self._make("images", tr("Images"), is_graph=False)
        self.graph = self._make("graph", tr("Class graph"), is_graph=True)
        self.images.setChecked(True)
        fill_row(self, self.images, self.graph, spacing=2)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def _make(self, icon_name: str, tip: str, *, is_graph: bool) -> QToolButton:
        button = make_icon_button(icon_name, tip, lambda: self.graph_chosen.emit(is_graph))
        set_key_tip(button, tip, "show_graph")
        button.setCheckable(True)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        self._group.addButton(button)
        return button

    def show_view(self, *, is_graph: bool) -> None:
        (self.graph if is_graph else self.images).setChecked(True)


TITLE_WIDTH = 160  # minimum of a long title before other parts are hidden
SHORT_TITLE = 60  # minimum of a title in the narrowest window
ZOOM_WIDTH = 104  # width of the slider
GAP = 8
OWN_ORDER = "own"
CHIPS = {
    Subset.ALL: marked("All", about="images"),
    Subset.TO_REVIEW: marked("To review"),
    Subset.LABELLED: marked("Labelled"),
    Subset.UNKNOWN: marked("Unknown", about="images"),
}
ORDERS = {
    Order.TEACH_FIRST: marked("Teach first"),
    Order.UNSURE_FIRST: marked("Least certain first"),
    Order.SUREST_FIRST: marked("Most certain first"),
    Order.CLASS: marked("By class"),
    Order.ADDED: marked("In the order added"),
    Order.NAME: marked("By name"),
    Order.TAKEN: marked("By date taken"),
    Order.FOLDER: marked("By folder"),
    Order.SIZE: marked("Largest files first"),
}


@final
class Header(QWidget):
    """Title and controls of the grid."""

    back_chosen = Signal()
    search_chosen = Signal()
    subset_chosen = Signal(Subset)
    order_chosen = Signal(Order)
    own_order_chosen = Signal()  # the own order of the displayed set of images
    zoom_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("surface", "window")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._back = make_icon_button("arrow_left", tr("Back (Esc)"), self.back_chosen.emit)
        self._title = ElidedLabel("heading", takes_rest=False)
        self._count = make_label("", "muted")
        self._to_review = make_label("", "muted")
        self._chips: dict[Subset, QPushButton] = {}
        self._group = QButtonGroup(self)
        self._is_graph = self._has_class = self._is_page = False
        self._shown: tuple[str, int, int | None, bool, int] | None = None
        self._is_part = self._is_sidebar_hidden = False
        self._order = self._make_order()
        self._zoom = self._make_zoom()
        self.badge = ChangedBadge()
        self.sort_again = SortAgain()
        self.switch = ViewSwitch()
        self.search_button = make_icon_button(
            "search", tr("Search images"), self.search_chosen.emit
        )
        set_key_tip(self.search_button, tr("Search images"), "search_images")
        self.panel_button = make_icon_button("right_panel", tr("Show or hide the right panel"))
        set_key_tip(self.panel_button, tr("Show or hide the right panel"), "right_panel")
        self.panel_button.setCheckable(True)
        self.panel_button.hide()
        chips = [self._make_chip(subset, tr(text)) for subset, text in CHIPS.items()]
        layout = fill_row(
            self,
            *(self._back, self._title, self._count, self._to_review, *chips, None),
            *(self.badge, self.sort_again, self.search_button, self._order, self._zoom),
            *(self.switch, self.panel_button),
            spacing=GAP,
            margins=(2 * GAP, GAP, GAP, GAP),
        )
        layout.insertSpacing(layout.indexOf(chips[0]), GAP)
        layout.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)

    def _make_chip(self, subset: Subset, text: str) -> QPushButton:
        chip = QPushButton(text)
        chip.setProperty("role", "chip")
        chip.setCheckable(True)
        chip.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        chip.setCursor(Qt.CursorShape.PointingHandCursor)
        chip.clicked.connect(lambda _is_checked=False: self.subset_chosen.emit(subset))
        self._group.addButton(chip)
        self._chips[subset] = chip
        return chip

    def _make_order(self) -> QComboBox:
        box = QComboBox()
        dress_list(box)
        box.setProperty("variant", "flat")
        box.setAccessibleName(tr("Order"))
        for order, text in ORDERS.items():
            box.addItem(tr(text), order)
        tip = tr(
            "First the images whose labels help most: typical of many others and not yet clear"
        )
        box.setItemData(
            box.findData(Order.TEACH_FIRST), plain_tip(tip), Qt.ItemDataRole.ToolTipRole
        )
        box.activated.connect(self._on_order_activated)
        return box

    def _make_zoom(self) -> QSlider:
        slider = QSlider(Qt.Orientation.Horizontal)
        slider.setRange(SMALLEST_SIDE, LARGEST_SIDE)
        slider.setFixedWidth(ZOOM_WIDTH)
        slider.setAccessibleName(tr("Thumbnail size"))
        slider.setToolTip(tr("Thumbnail size (Ctrl+wheel)"))
        slider.valueChanged.connect(self.zoom_chosen)
        return slider

    def minimumSizeHint(self) -> QSize:
        """A small minimum width: parts are hidden instead of widening the window."""
        return QSize(SHORT_TITLE, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the least important parts where the header is narrow."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Show everything, then hide the least important parts until the rest fits."""
        self._show_all()
        title = min(self._title.sizeHint().width(), SHORT_TITLE)
        steps: tuple[Callable[[], object], ...] = (
            self.badge.shorten,
            self.sort_again.shorten,
            self._to_review.hide,
            self._count.hide,
            self._hide_chips,
            self._count.hide,
            self.badge.shorten,
            self.sort_again.shorten,
            self.search_button.hide,
            lambda: self._title.setMinimumWidth(title),
            self.badge.hide,
            self._zoom.hide,
            self._order.hide,
        )
        for shorten in steps:
            if self._least_width() <= self.width():
                break
            shorten()
        if (layout := self.layout()) is not None:
            layout.activate()  # intermediate layouts are not painted

    def _show_all(self) -> None:
        self._title.setMinimumWidth(min(self._title.sizeHint().width(), TITLE_WIDTH))
        self._count.setVisible(not self._is_page)
        self._to_review.setVisible(bool(self._to_review.text()))
        for subset, chip in self._chips.items():
            # Unknown images belong to no class.
            is_idle = subset is Subset.UNKNOWN and self._has_class
            chip.setVisible(self._has_grid and self._needs_chips and not is_idle)
        for tool in (self.search_button, self._order, self._zoom):
            tool.setVisible(self._has_grid)
        self.switch.setVisible(not self._is_page)
        self.badge.show_whole()
        self.sort_again.show_whole()
        if self._is_page:
            self.badge.hide()
            self.sort_again.hide()

    @property
    def _needs_chips(self) -> bool:
        """Whether chips offer more than the sidebar, as for a class or a set of images."""
        return self._is_part or self._is_sidebar_hidden

    @property
    def _has_grid(self) -> bool:
        return not (self._is_graph or self._is_page)

    def _hide_chips(self) -> None:
        """Hide the chips; the count may fit again."""
        for chip in self._chips.values():
            chip.hide()
        self._count.setVisible(not self._is_page)

    def _least_width(self) -> int:
        layout = self.layout()
        assert layout is not None
        layout.invalidate()
        return (
            layout.sizeHint().width() - self._title.sizeHint().width() + self._title.minimumWidth()
        )

    def show_changed(self, count: int) -> None:
        if count != self.sort_again.count:
            self.sort_again.count = count
            self._arrange()

    def show_moves(self, changes: ChangedImages | None) -> None:
        """Show how many predictions the last edit changed."""
        self.badge.show_changes(changes)
        self._arrange()

    @property
    def title(self) -> str:
        return self._title.text()

    def show_page(self, title: str) -> None:
        """Show the title of a feature's page, and the back button."""
        self._is_page = True
        self._back.show()
        self._title.show_text(title)
        self._to_review.setText("")
        self._arrange()

    def show_title(
        self,
        title: str,
        count: int,
        *,
        to_review: int | None = None,
        can_go_back: bool = False,
        cards: int = 0,
    ) -> None:
        """Show the title and counts.

        Args:
            to_review: None where it is not shown.
            cards: number of cards where folds make them fewer than images; else 0.
        """
        shown = (title, count, to_review, can_go_back, cards)
        if shown == self._shown and not self._is_page:
            return
        self._shown, self._is_page = shown, False
        self._back.setVisible(can_go_back)
        self._title.show_text(title)
        self._count.setText(
            fill(tr("{1} in {2}"), images(count), cards_text(cards)) if cards else images(count)
        )
        self._to_review.setText(
            "" if to_review is None or not count else to_review_text(to_review, count)
        )
        self._arrange()

    def show_subset(self, subset: Subset, *, has_class: bool = False, is_set: bool = False) -> None:
        """Check the chip of a subset, if it has one.

        Args:
            has_class: whether it is a subset of a class; unknown images belong to none.
            is_set: whether it is a subset of a set of images.
        """
        self._group.setExclusive(False)
        for known, chip in self._chips.items():
            chip.setChecked(known is subset)
        self._group.setExclusive(True)
        if (has_class, has_class or is_set) != (self._has_class, self._is_part):
            self._has_class, self._is_part = has_class, has_class or is_set
            self._arrange()

    def show_view(self, *, is_graph: bool) -> None:
        self.switch.show_view(is_graph=is_graph)
        if is_graph != self._is_graph:
            self._is_graph = is_graph
            self._arrange()

    def show_panel_button(self, is_needed: bool, is_shown: bool) -> None:
        """Show the button of the right panel while an outer pane is hidden."""
        self._is_sidebar_hidden = is_needed and is_shown
        self.panel_button.setVisible(is_needed)
        self.panel_button.setChecked(is_shown)
        self._arrange()

    def show_own_order(self, name: str, *, is_chosen: bool) -> None:
        """Add the set's own order to the orders by its name; "" removes it."""
        place = self._order.findData(OWN_ORDER)
        if place >= 0 and (not name or self._order.itemText(place) != name):
            self._order.removeItem(place)
        if name and self._order.findData(OWN_ORDER) < 0:
            self._order.insertItem(0, name, OWN_ORDER)
        if is_chosen and name:
            self._order.setCurrentIndex(self._order.findData(OWN_ORDER))

    def _on_order_activated(self, place: int) -> None:
        if self._order.itemData(place) == OWN_ORDER:
            self.own_order_chosen.emit()
        else:
            self.order_chosen.emit(Order(self._order.itemData(place)))

    def show_order(self, order: Order) -> None:
        place = self._order.findData(order)
        self._order.setCurrentIndex(place)
        self._order.setToolTip(
            plain_tip(self._order.itemData(place, Qt.ItemDataRole.ToolTipRole) or "")
        )

    def show_zoom(self, side: int) -> None:
        """Move the slider without emitting a signal."""
        with QSignalBlocker(self._zoom):
            self._zoom.setValue(side)


def cards_text(count: int) -> str:
    return plural(count, "{n} card", "{n} cards")


def to_review_text(to_review: int, count: int) -> str:
    if to_review == 0:
        text = tr("none to review")
    elif to_review == count:
        text = tr("all to review")
    else:
        text = tr("{1} to review", number(to_review))
    return f"{SEPARATOR.strip()} {text}"
