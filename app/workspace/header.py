"""The slim line above the grid: what is shown, how many, which part, in what order, how large."""

from typing import Final, final

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QComboBox, QHBoxLayout, QPushButton, QSizePolicy, QSlider, QWidget

from app.controls import make_label
from app.image_grid.geometry import LARGEST_SIDE, SMALLEST_SIDE
from app.image_grid.logic import Order
from app.session.subsets import Subset
from app.wording import images
from app.workspace.sort_again import SortAgain

WIDTH_FOR_ZOOM: Final = 760
WIDTH_FOR_ORDER: Final = 640
WIDTH_FOR_COUNT: Final = 500
CHIPS: Final = (Subset.ALL, Subset.TO_REVIEW, Subset.LABELLED, Subset.UNKNOWN)


@final
class Header(QWidget):
    """Title and controls of the grid.

    Signals:
        subset_chosen: a `Subset` from the chips.
        order_chosen: an `Order`.
        zoom_chosen: side of a thumbnail.
    """

    subset_chosen = Signal(object)
    order_chosen = Signal(object)
    zoom_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "window")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._title = make_label("", "heading")
        self._count = make_label("", "muted")
        self._chips: dict[Subset, QPushButton] = {}
        self._group = QButtonGroup(self)
        self._order = self._make_order()
        self._zoom = self._make_zoom()
        self.sort_again = SortAgain()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(16, 8, 12, 8)
        layout.setSpacing(8)
        layout.addWidget(self._title)
        layout.addWidget(self._count)
        layout.addSpacing(8)
        for subset in CHIPS:
            layout.addWidget(self._make_chip(subset))
        layout.addStretch(1)
        layout.addWidget(self.sort_again)
        layout.addWidget(self._order)
        layout.addWidget(self._zoom)

    def _make_chip(self, subset: Subset) -> QPushButton:
        chip = QPushButton(self._chip_text(subset))
        chip.setProperty("role", "chip")
        chip.setCheckable(True)
        chip.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        chip.setCursor(Qt.CursorShape.PointingHandCursor)
        chip.clicked.connect(lambda _is_checked=False: self.subset_chosen.emit(subset))
        self._group.addButton(chip)
        self._chips[subset] = chip
        return chip

    def _chip_text(self, subset: Subset) -> str:
        return {
            Subset.ALL: self.tr("All"),
            Subset.TO_REVIEW: self.tr("To review"),
            Subset.LABELLED: self.tr("Labelled"),
            Subset.UNKNOWN: self.tr("Unknown"),
        }[subset]

    def _make_order(self) -> QComboBox:
        box = QComboBox()
        box.setProperty("variant", "flat")
        box.setAccessibleName(self.tr("Order"))
        for order, text in (
            (Order.UNSURE_FIRST, self.tr("Least certain first")),
            (Order.SUREST_FIRST, self.tr("Most certain first")),
            (Order.CLASS, self.tr("By class")),
            (Order.ADDED, self.tr("In the order added")),
        ):
            box.addItem(text, order)
        box.activated.connect(lambda place: self.order_chosen.emit(Order(box.itemData(place))))
        return box

    def _make_zoom(self) -> QSlider:
        slider = QSlider(Qt.Orientation.Horizontal)
        slider.setRange(SMALLEST_SIDE, LARGEST_SIDE)
        slider.setFixedWidth(104)
        slider.setAccessibleName(self.tr("Thumbnail size"))
        slider.setToolTip(self.tr("Thumbnail size (Ctrl+wheel)"))
        slider.valueChanged.connect(self.zoom_chosen)
        return slider

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give up what is least needed when it gets narrow: size, order, count."""
        super().resizeEvent(event)
        width = event.size().width()
        self._zoom.setVisible(width >= WIDTH_FOR_ZOOM)
        self._order.setVisible(width >= WIDTH_FOR_ORDER)
        self._count.setVisible(width >= WIDTH_FOR_COUNT)

    def show_title(self, title: str, count: int) -> None:
        """Say what is shown."""
        self._title.setText(title)
        self._count.setText(images(count))

    def show_subset(self, subset: Subset) -> None:
        """Light the chip of the part that is shown; none for a part without a chip."""
        self._group.setExclusive(False)
        for known, chip in self._chips.items():
            chip.setChecked(known is subset)
        self._group.setExclusive(True)

    def show_order(self, order: Order) -> None:
        """Name the order."""
        self._order.setCurrentIndex(self._order.findData(order))

    def show_zoom(self, side: int) -> None:
        """Move the slider without telling."""
        with QSignalBlocker(self._zoom):
            self._zoom.setValue(side)
