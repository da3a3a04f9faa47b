"""The edge under the pointer: highlighting, a hint with its attention weight, and selection."""

from collections.abc import Sequence
from typing import final

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.canvas.painting import paint_floating_card, text_font
from app.graph_view.card import Pictures, covering
from app.graph_view.drawing_painter import paint_lit_edges
from app.graph_view.model import ParentShare
from app.graph_view.sheet import GraphSheet
from app.mirroring import isolated, placed
from app.texts import with_breaks
from app.theme.tokens import tokens
from app.wording import percent

# Logical pixels.
WIDTH = 320
PADDING = 12
FACE = 32
FACES = 4
ROW = 40  # of a parent
SHARE = 44  # width of the percentage
MOST_ROWS = 5
_WRAPPED = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap
REACH = 6.0  # hit distance of an edge, in logical pixels
REST_MS = 250  # delay of the hint
BELOW = QPoint(14, 16)  # offset of the hint from the pointer
Ends = tuple[int, int]  # parent and child


@final
class EdgeHint(QWidget):
    """Floating hint over the drawing; ignores the mouse."""

    def __init__(self, sheet: QWidget, pictures: Pictures) -> None:
        super().__init__(sheet)
        self._sheet = sheet
        self._pictures = pictures
        self.text = ""
        self.shares: tuple[ParentShare, ...] = ()
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def show_at(self, text: str, shares: Sequence[ParentShare], place: QPoint) -> None:
        self.text, self.shares = text, tuple(shares[:MOST_ROWS])
        self.setAccessibleName(text)
        self.resize(self.sizeHint())
        room = self._sheet.rect().adjusted(PADDING, PADDING, -PADDING, -PADDING)
        self.move(
            min(place.x(), room.right() - self.width()),
            min(place.y(), room.bottom() - self.height()),
        )
        self.raise_()
        self.show()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, self._words().height() + 2 * PADDING + ROW * len(self.shares) + 4)

    def _words(self) -> QRect:
        room = QRect(0, 0, WIDTH - 2 * PADDING, 10 * ROW)
        font = text_font(tokens().sizes.body)
        return QFontMetrics(font).boundingRect(room, int(_WRAPPED), with_breaks(self.text))

    def paintEvent(self, _event: QPaintEvent) -> None:
        look, words = tokens(), self._words()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        paint_floating_card(painter, self.rect(), QColor(look.colours.raised), look.colours.border)
        painter.setFont(text_font(look.sizes.body))
        painter.setPen(QColor(look.colours.text))
        room = QRect(PADDING, PADDING, self.width() - 2 * PADDING, words.height() + 2)
        painter.drawText(room, int(_WRAPPED), with_breaks(self.text))
        for place, share in enumerate(self.shares):
            self._paint_share(
                painter, QRect(PADDING, room.bottom() + 6 + ROW * place, room.width(), ROW), share
            )
        painter.end()

    def _paint_share(self, painter: QPainter, row: QRect, share: ParentShare) -> None:
        colours = tokens().colours
        for place in range(FACES):
            cell = placed(
                QRectF(row.left() + place * (FACE + 2), row.top() + 4, FACE, FACE), QRectF(row)
            )
            picture = self._pictures(share.faces[place], FACE) if place < len(share.faces) else None
            if picture is None:
                painter.fillRect(cell, QColor(colours.sunken))
            else:
                painter.drawPixmap(cell, picture, covering(picture, cell))
        words = row.adjusted(FACES * (FACE + 2) + 6, 0, 0, 0)
        painter.setFont(text_font(tokens().sizes.body, is_strong=True))
        painter.setPen(QColor(colours.accent_text))
        middle = Qt.AlignmentFlag.AlignVCenter
        room = placed(QRect(words.left(), words.top(), SHARE, words.height()), row)
        painter.drawText(room, middle, isolated(percent(share.share)))
        painter.setFont(text_font(tokens().sizes.body))
        painter.setPen(QColor(colours.text_secondary))
        rest = words.adjusted(SHARE, 0, 0, 0)
        name = painter.fontMetrics().elidedText(
            share.name, Qt.TextElideMode.ElideRight, rest.width()
        )
        painter.drawText(placed(rest, row), middle, isolated(name))


@final
class EdgePointer:
    """Tracks the pointer over edges."""

    def __init__(self, sheet: GraphSheet) -> None:
        self._sheet = sheet
        self.hovered: Ends | None = None
        self.chosen: Ends | None = None  # the clicked edge; Delete unlinks it
        self._hint: EdgeHint | None = None
        self._place = QPoint()
        self._timer = QTimer(sheet, singleShot=True, interval=REST_MS)
        self._timer.timeout.connect(self._show_hint)
        sheet.chosen.changed.connect(self.let_go)
        sheet.looked.connect(self._leave)
        sheet.drawn.connect(self._leave)

    @property
    def hint(self) -> EdgeHint | None:
        """The hint, if it is visible."""
        return self._hint if self._hint is not None and self._hint.isVisible() else None

    def hover(self, place: QPointF | None) -> None:
        """Set the position of the pointer; None if it is over a class or outside."""
        ends = None if place is None else self._at(place)
        if ends != self.hovered:
            self.hovered = ends
            self._sheet.update()
            self._hide()
        if ends is not None and place is not None and self.hint is None:
            self._place = place.toPoint()
            self._timer.start()

    def choose(self) -> bool:
        is_there = self.hovered is not None
        if is_there:
            self._sheet.chosen.choose(None)
        self.chosen = self.hovered
        self._sheet.update()
        return is_there

    def let_go(self) -> None:
        self.chosen = None

    def paint(self, painter: QPainter) -> None:
        drawing, sheet = self._sheet.drawing, self._sheet
        edges = [
            drawing.edge_between(*ends) for ends in (self.hovered, self.chosen) if ends is not None
        ]
        routes = [drawing.routes[edge] for edge in edges if edge is not None]
        paint_lit_edges(painter, routes, sheet.camera, tokens().colours.accent)

    def _leave(self) -> None:
        if self.hovered is not None or self._timer.isActive():
            self.hover(None)

    def _at(self, place: QPointF) -> Ends | None:
        sheet = self._sheet
        x, y = sheet.camera.to_plane(place.x(), place.y())
        edge = sheet.drawing.edge_near(x, y, REACH / sheet.camera.scale)
        if edge is None:
            return None
        drawing = sheet.drawing
        return int(drawing.ids[drawing.parents[edge]]), int(drawing.ids[drawing.children[edge]])

    def _show_hint(self) -> None:
        if self.hovered is None or not self._sheet.isVisible():
            return
        if self._hint is None:
            self._hint = EdgeHint(self._sheet, self._sheet.picture.face)
        model, child = self._sheet.model, self.hovered[1]
        self._hint.show_at(model.edge_words(child), model.parent_shares(child), self._place + BELOW)

    def _hide(self) -> None:
        self._timer.stop()
        if self._hint is not None:
            self._hint.hide()
