"""Paints prototypes, their edges, and class names on a map; rendered names are cached."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Final, final

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QPixmap, QPolygonF

from app.map.labels import placed_apart
from app.theme.class_colours import class_colour
from app.theme.tokens import tokens
from engine.arrays import Doubles, Integers

if TYPE_CHECKING:
    from app.map.labels import Box
    from app.map.seen import MapView

DIAMOND: Final = 6.5  # half the width of a prototype's mark, in logical pixels
LONGEST_NAME: Final = 170  # pixels
NEARER: Final = 2.2  # zoom factor that reveals one more level
LINE_ALPHA: Final = 110  # 0-255
MOST_TRIED: Final = 120  # names tried for placement per frame
_PAD: Final = (7.0, 2.5)  # horizontal and vertical padding of a name
_KEPT: Final = 600  # cached name pictures


@final
class Marks:
    """Paints marks and names over the points of a canvas."""

    def __init__(self, canvas: MapView) -> None:
        self._canvas = canvas
        self._pictures: dict[tuple[str, bool, float], QPixmap] = {}

    def forget(self) -> None:
        """Clear the cache after a change of fonts, colours or names."""
        self._pictures.clear()

    def paint_edges(self, painter: QPainter) -> None:
        canvas, colour = self._canvas, QColor(tokens().colours.text_secondary)
        scene, shown = canvas.scene, self._depths()
        ends = scene.edge_places
        if not len(ends):
            return
        at = self._in_view(scene.mark_places)
        lines, rows = clipped(at[ends[:, 0]], at[ends[:, 1]], canvas.view_size)
        wanted = (
            place
            for place, row in enumerate(rows)
            if scene.prototypes[ends[row, 1]].class_id in shown
        )
        painter.setPen(
            _hairline(colour, QColor(tokens().colours.sunken))
            if canvas.is_moving
            else _line(colour)
        )
        painter.drawLines([QLineF(*lines[place].tolist()) for place in wanted])

    def paint_prototypes(self, painter: QPainter) -> None:
        canvas, scene, ratio = self._canvas, self._canvas.scene, self._canvas.devicePixelRatioF()
        stored, shown, dark = scene.stored_colours, self._depths(), QColor(tokens().colours.text)
        at = self._in_view(scene.mark_places)
        (width, height), away = canvas.view_size, DIAMOND + 2
        is_in = (
            (at[:, 0] > -away)
            & (at[:, 0] < width + away)
            & (at[:, 1] > -away)
            & (at[:, 1] < height + away)
        )
        for row in np.flatnonzero(is_in)[::-1].tolist():
            mark = scene.prototypes[row]
            if mark.class_id in shown:
                class_id = mark.class_id
                colour = (
                    dark if stored is None else class_colour(class_id, stored.get(class_id, ""))
                )
                picture = self._diamond(colour.rgba(), ratio)
                x, y = at[row].tolist()
                painter.drawPixmap(QPointF(x - away, y - away), picture)

    def _in_view(self, places: Doubles) -> Doubles:
        """Positions (k, 2) in logical pixels."""
        camera, view = self._canvas.camera, self._canvas.view_size
        return (places - (camera.x, camera.y)) * camera.scale + (view[0] / 2, view[1] / 2)

    def _diamond(self, colour: int, ratio: float) -> QPixmap:
        key = "", bool(colour), float(colour) + ratio / 16
        if key not in self._pictures:
            self._pictures[key] = _diamond_picture(colour, ratio)
        return self._pictures[key]

    def _depths(self) -> frozenset[int]:
        """Classes whose prototypes are shown at this zoom: down to `_deepest` levels."""
        canvas, levels = self._canvas, self._canvas.scene.levels
        deepest = self._deepest()
        marks = canvas.scene.prototypes
        return frozenset(mark.class_id for mark in marks if levels.get(mark.class_id, 0) <= deepest)

    def _deepest(self) -> int:
        """Levels shown below the coloured one: one more for each zoom factor of `NEARER`."""
        canvas = self._canvas
        return max(0, int(log(max(canvas.camera.scale / canvas.fitting_scale, 1.0), NEARER)))

    def paint_names(self, painter: QPainter) -> None:
        """Paint the names of visible classes without overlaps, coarse ones first.

        A name is below the class's prototype if that is shown.
        """
        canvas, scene = self._canvas, self._canvas.scene
        marked = scene.marked if canvas.shows_prototypes else frozenset()
        ratio, deepest, found = canvas.devicePixelRatioF(), self._deepest(), []
        at, (width, height) = self._in_view(scene.name_places), canvas.view_size
        is_in = (at[:, 0] >= 0) & (at[:, 0] <= width) & (at[:, 1] >= 0) & (at[:, 1] <= height)
        for row in np.flatnonzero(is_in).tolist():
            place = scene.places[row]
            if place.depth > deepest:
                break  # sorted from the coarsest
            picture = self._picture(
                scene.names.get(place.class_id, ""), is_strong=place.depth == 0, ratio=ratio
            )
            size = picture.deviceIndependentSize()
            below = DIAMOND + 2 + size.height() / 2 if place.class_id in marked else 0.0
            found.append(
                (
                    picture,
                    (float(at[row, 0]), float(at[row, 1]) + below, size.width(), size.height()),
                )
            )
            if len(found) == MOST_TRIED:
                break
        for number, box in placed_apart(
            (wanted for _picture, wanted in found), canvas.view_size, canvas.covered
        ):
            painter.drawPixmap(_on_pixels(box, ratio), found[number][0])

    def _picture(self, name: str, *, is_strong: bool, ratio: float) -> QPixmap:
        key = name, is_strong, ratio
        if key not in self._pictures:
            if len(self._pictures) > _KEPT:
                self._pictures.clear()
            self._pictures[key] = _name_picture(
                name, self._canvas.font(), is_strong=is_strong, ratio=ratio
            )
        return self._pictures[key]


def _name_picture(name: str, font: QFont, *, is_strong: bool, ratio: float) -> QPixmap:
    worn = tokens()
    font = QFont(font)
    font.setPixelSize(worn.sizes.caption)
    if is_strong:
        font.setWeight(QFont.Weight.DemiBold)
    metrics = QFontMetricsF(font)
    text = metrics.elidedText(name, Qt.TextElideMode.ElideRight, LONGEST_NAME)
    width, height = metrics.horizontalAdvance(text) + 2 * _PAD[0], metrics.height() + 2 * _PAD[1]
    picture = QPixmap(round(width * ratio), round(height * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    ground = QColor(worn.colours.surface)
    ground.setAlphaF(0.86)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ground)
    room = QRectF(0, 0, width, height)
    painter.drawRoundedRect(room, height / 2, height / 2)
    painter.setPen(QColor(worn.colours.text))
    painter.setFont(font)
    painter.drawText(room, Qt.AlignmentFlag.AlignCenter, text)
    painter.end()
    return picture


def _line(colour: QColor) -> QPen:
    colour.setAlpha(LINE_ALPHA)
    return QPen(colour, 1.3)


def _hairline(colour: QColor, ground: QColor) -> QPen:
    """A one-pixel opaque pen, which paints ten times as fast."""
    parts = zip(colour.getRgb()[:3], ground.getRgb()[:3], strict=True)  # type: ignore[index]
    pen = QPen(
        QColor(*((one * LINE_ALPHA + other * (255 - LINE_ALPHA)) // 255 for one, other in parts)), 1
    )
    pen.setCosmetic(True)
    return pen


def _diamond_picture(colour: int, ratio: float) -> QPixmap:
    side = 2 * (DIAMOND + 2)
    picture = QPixmap(round(side * ratio), round(side * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter, middle = QPainter(picture), side / 2
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(tokens().colours.surface), 1.6))
    painter.setBrush(QColor.fromRgb(colour))
    corners = ((0.0, -DIAMOND), (DIAMOND, 0.0), (0.0, DIAMOND), (-DIAMOND, 0.0))
    painter.drawPolygon(QPolygonF([QPointF(middle + dx, middle + dy) for dx, dy in corners]))
    painter.end()
    return picture


def clipped(starts: Doubles, ends: Doubles, view: tuple[float, float]) -> tuple[Doubles, Integers]:
    """Clip lines (n, 2) to (n, 2) to a view (Liang and Barsky, 1984); Qt would paint all of them.

    Returns:
        Lines (k, 4), and the row of each.
    """
    way = ends - starts
    low, high = np.zeros(len(starts)), np.ones(len(starts))
    for axis, most in enumerate(view):
        for sign, room in ((-1.0, starts[:, axis]), (1.0, most - starts[:, axis])):
            step = sign * way[:, axis]
            share = np.divide(room, step, out=np.zeros(len(step)), where=step != 0)
            low = np.where(step < 0, np.maximum(low, share), low)
            high = np.where(step > 0, np.minimum(high, share), high)
            high = np.where((step == 0) & (room < 0), -1.0, high)
    rows = np.flatnonzero(low < high)
    parts = np.concatenate(
        [starts[rows] + low[rows, None] * way[rows], starts[rows] + high[rows, None] * way[rows]],
        axis=1,
    )
    return parts, rows.astype(np.int64)


def _on_pixels(box: Box, ratio: float) -> QPointF:
    return QPointF(round(box[0] * ratio) / ratio, round(box[1] * ratio) / ratio)
