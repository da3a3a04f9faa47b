"""Cards of the welcome page: a picture above a name and a few lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPainterPath, QPaintEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from app.controls import ElidedLabel, fill_column, set_property
from app.drops import BoxButton
from app.painting import colour_of, paint_icon, smooth_painter
from app.theme.tokens import tokens

CARD_WIDTH = 216  # logical pixels, at least
PICTURE_HEIGHT = 104  # logical pixels
MOST_COLUMNS = 4  # of cards
ICON_SIDE = 36  # logical pixels
_MUTED = 0.35  # opacity of the picture of a missing project


@final
class CardPicture(QWidget):
    """A picture cropped to fill the widget, rounded at the top; an icon without a picture."""

    def __init__(self, icon_name: str) -> None:
        super().__init__()
        self.setFixedHeight(PICTURE_HEIGHT)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.opacity = 1.0
        self._icon_name = icon_name
        self._picture: QPixmap | None = None

    def show_picture(self, image: QImage | None) -> None:
        self._picture = None if image is None else QPixmap.fromImage(image)
        self.update()

    @property
    def has_picture(self) -> bool:
        return self._picture is not None

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, place = smooth_painter(self), QRectF(self.rect())
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        shape = QPainterPath()
        radius = tokens().spacing.radius - 1
        shape.addRoundedRect(place.adjusted(0, 0, 0, radius), radius, radius)
        painter.setClipPath(shape)
        painter.fillRect(place, colour_of("sunken"))
        painter.setOpacity(self.opacity)
        if self._picture is None:
            spot = QRect(0, 0, ICON_SIDE, ICON_SIDE)
            spot.moveCenter(self.rect().center())
            paint_icon(painter, spot, self._icon_name, "text_disabled")
        else:
            painter.drawPixmap(place, self._picture, _middle(self._picture.size(), place))
        painter.end()


def _middle(size: QSize, place: QRectF) -> QRectF:
    """The centre part of a picture that fills a rectangle."""
    scale = min(size.width() / max(1.0, place.width()), size.height() / max(1.0, place.height()))
    width, height = place.width() * scale, place.height() * scale
    return QRectF((size.width() - width) / 2, (size.height() - height) / 2, width, height)


class PictureCard(BoxButton):
    """A button with a picture and text below it."""

    def __init__(self, name: str, icon_name: str) -> None:
        super().__init__()
        self.setProperty("role", "picture_card")
        self.setAccessibleName(name)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.picture = CardPicture(icon_name)
        self.name = ElidedLabel("strong")
        self.name.show_text(name)
        spacing = tokens().spacing
        side = spacing.small + spacing.tiny
        around = (side, 0, side, spacing.tiny)
        self._words = fill_column(None, spacing=spacing.tiny + 2, margins=around)
        fill_column(self, self.picture, self._words, margins=(1, 1, 1, spacing.small))
        self.add(self.name)

    def add(self, *parts: QWidget) -> None:
        """Add parts below the name; they let mouse events through to the card."""
        for part in parts:
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            self._words.addWidget(part)

    def show_picture(self, image: QImage | None) -> None:
        self.picture.show_picture(image)

    def set_muted(self, *, is_muted: bool) -> None:
        self.picture.opacity = _MUTED if is_muted else 1.0
        self.picture.update()
        set_property(self.name, "role", "muted" if is_muted else "strong")

    @property
    def words(self) -> list[str]:
        """All text of the card, from top to bottom."""
        return [
            label.text()
            for label in self.findChildren(QLabel)
            if label.text() and not label.isHidden()
        ]


@final
class CardGrid(QWidget):
    """A grid of cards of equal width, with as many columns as fit."""

    def __init__(self) -> None:
        super().__init__()
        self._cards: Sequence[PictureCard] = ()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(tokens().spacing.medium)

    def show_cards(self, cards: Sequence[PictureCard]) -> None:
        """Replace all cards."""
        for card in self._cards:
            self._grid.removeWidget(card)
            card.hide()
            card.deleteLater()
        self._cards = cards
        self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        gap = self._grid.spacing()
        columns = columns_in(self.width())
        width = (self.width() - (columns - 1) * gap) // columns
        for at, card in enumerate(self._cards):
            card.setFixedWidth(width)
            self._grid.addWidget(card, at // columns, at % columns, Qt.AlignmentFlag.AlignTop)
        self._grid.setColumnStretch(columns, 1)


def columns_in(width: int) -> int:
    """Number of card columns that fit into a width."""
    gap = tokens().spacing.medium
    return max(1, min(MOST_COLUMNS, (width + gap) // (CARD_WIDTH + gap)))


def width_of(columns: int) -> int:
    """Width of a number of card columns."""
    gap = tokens().spacing.medium
    return columns * (CARD_WIDTH + gap) - gap
