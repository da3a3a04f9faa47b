"""Paints prototypes, their edges, and class names on a map."""

from __future__ import annotations

from functools import lru_cache
from math import log
from typing import TYPE_CHECKING, final

import numpy as np
from PySide6.QtCore import QLineF, QPointF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPixmap, QPolygonF

from app.canvas.painting import name_picture, text_font
from app.images.pixels import on_pixels
from app.map.labels import placed_apart
from app.theme.class_colours import blended, class_colour
from app.theme.tokens import tokens
from engine.arrays import Doubles, Flags

if TYPE_CHECKING:
    from app.canvas.camera import Camera
    from app.map.plane import MapPlane

DIAMOND = 6.5  # half the width of a prototype's mark, in logical pixels
LONGEST_NAME = 170  # pixels
NEARER = 2.2  # zoom factor that reveals one more level
LINE_ALPHA = 110  # 0-255
MOST_TRIED = 120  # names tried for placement per frame
_PAD = (7.0, 2.5)  # horizontal and vertical padding of a name


@final
class Marks:
    """Paints marks and names over the points of a canvas."""

    def __init__(self, canvas: MapPlane) -> None:
        self._canvas = canvas

    def paint_edges(self, painter: QPainter) -> None:
        canvas, prototypes = self._canvas, self._canvas.scene.prototypes
        ends = prototypes.edges[self._are_shown()[prototypes.edges[:, 1]]]
        at = self._in_view(prototypes.places)
        lines = clipped(at[ends[:, 0]], at[ends[:, 1]], canvas.camera)
        painter.setPen(self._edge_pen())
        painter.drawLines([QLineF(*line) for line in lines.tolist()])

    def _edge_pen(self) -> QPen:
        """A translucent pen; in motion an opaque one-pixel pen, which paints ten times as fast."""
        colour = QColor(tokens().colours.text_secondary)
        if self._canvas.moved_recently:
            ground = QColor(tokens().colours.sunken)
            pen = QPen(blended(ground, colour, LINE_ALPHA / 255), 1)
            pen.setCosmetic(True)
            return pen
        colour.setAlpha(LINE_ALPHA)
        return QPen(colour, 1.3)

    def paint_prototypes(self, painter: QPainter) -> None:
        canvas, prototypes, away = self._canvas, self._canvas.scene.prototypes, DIAMOND + 2
        stored, ratio = canvas.scene.stored_colours, canvas.devicePixelRatioF()
        at, colour = self._in_view(prototypes.places), QColor(tokens().colours.text)
        is_painted = _within(at, canvas.camera, away) & self._are_shown()
        for row in np.flatnonzero(is_painted)[::-1].tolist():
            if stored is not None:
                class_id = int(prototypes.class_ids[row])
                colour = class_colour(class_id, stored.get(class_id, ""))
            x, y = at[row].tolist()
            picture = _diamond_picture(colour.name(), tokens().colours.surface, ratio)
            painter.drawPixmap(QPointF(x - away, y - away), picture)

    def _in_view(self, places: Doubles) -> Doubles:
        """Positions (k, 2) in logical pixels."""
        camera = self._canvas.camera
        centre = camera.width / 2, camera.height / 2
        return (places - (camera.x, camera.y)) * camera.scale + centre

    def _are_shown(self) -> Flags:
        """(p,) whether prototypes are shown at this zoom: down to `_deepest` levels."""
        return self._canvas.scene.prototype_depths <= self._deepest()

    def _deepest(self) -> int:
        """Levels shown below the coloured one: one more for each zoom factor of `NEARER`."""
        return int(log(max(self._canvas.magnification, 1.0), NEARER))

    def paint_names(self, painter: QPainter) -> None:
        """Paint the names of visible classes without overlaps, coarse ones first.

        A name is below the class's prototype if that is shown.
        """
        canvas, scene, colours = self._canvas, self._canvas.scene, tokens().colours
        marked = set(scene.prototypes.class_ids.tolist() if canvas.shows_prototypes else ())
        ratio, deepest, found = canvas.devicePixelRatioF(), self._deepest(), []
        at = self._in_view(scene.name_places)
        for row in np.flatnonzero(_within(at, canvas.camera)).tolist():
            place = scene.places[row]
            if place.depth > deepest:
                break  # sorted from the coarsest
            name = scene.names.get(place.class_id, "")
            is_strong = place.depth == 0
            picture = _name_picture(name, ratio, colours.surface, colours.text, is_strong=is_strong)
            size = picture.deviceIndependentSize()
            below = DIAMOND + 2 + size.height() / 2 if place.class_id in marked else 0.0
            x, y = at[row].tolist()
            found.append((picture, (x, y + below, size.width(), size.height())))
            if len(found) == MOST_TRIED:
                break
        wanted = (box for _picture, box in found)
        for number, box in placed_apart(wanted, canvas.camera, canvas.covered):
            painter.drawPixmap(on_pixels(QPointF(box[0], box[1]), ratio), found[number][0])


@lru_cache(maxsize=600)
def _name_picture(name: str, ratio: float, ground: str, ink: str, *, is_strong: bool) -> QPixmap:
    metrics = QFontMetricsF(text_font(tokens().sizes.caption, is_strong=is_strong))
    text = metrics.elidedText(name, Qt.TextElideMode.ElideRight, LONGEST_NAME)
    height = metrics.height() + 2 * _PAD[1]
    return name_picture(
        text,
        metrics.horizontalAdvance(text) + 2 * _PAD[0],
        height,
        radius=height / 2,
        ratio=ratio,
        ground=ground,
        ink=ink,
        is_strong=is_strong,
    )


@lru_cache(maxsize=256)
def _diamond_picture(colour: str, surface: str, ratio: float) -> QPixmap:
    side = 2 * (DIAMOND + 2)
    picture = QPixmap(round(side * ratio), round(side * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter, middle = QPainter(picture), side / 2
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(surface), 1.6))
    painter.setBrush(QColor(colour))
    corners = ((0.0, -DIAMOND), (DIAMOND, 0.0), (0.0, DIAMOND), (-DIAMOND, 0.0))
    painter.drawPolygon(QPolygonF([QPointF(middle + dx, middle + dy) for dx, dy in corners]))
    painter.end()
    return picture


def clipped(starts: Doubles, ends: Doubles, view: Camera) -> Doubles:
    """Clip lines (n, 2) to (n, 2) to a view (Liang and Barsky, 1984); Qt would paint all of them.

    Returns:
        (k, 4) visible parts.
    """
    way = ends - starts
    low, high = np.zeros(len(starts)), np.ones(len(starts))
    for axis, most in enumerate((view.width, view.height)):
        for sign, room in ((-1.0, starts[:, axis]), (1.0, most - starts[:, axis])):
            step = sign * way[:, axis]
            share = np.divide(room, step, out=np.zeros(len(step)), where=step != 0)
            low = np.where(step < 0, np.maximum(low, share), low)
            high = np.where(step > 0, np.minimum(high, share), high)
            high = np.where((step == 0) & (room < 0), -1.0, high)
    rows = np.flatnonzero(low < high)
    visible_starts = starts[rows] + low[rows, None] * way[rows]
    visible_ends = starts[rows] + high[rows, None] * way[rows]
    return np.concatenate([visible_starts, visible_ends], axis=1)


def _within(at: Doubles, view: Camera, away: float = 0.0) -> Flags:
    """Mask (n,) of positions (n, 2) that are in a view, or at most `away` outside."""
    farthest = view.width + away, view.height + away
    return np.logical_and.reduce((at >= -away) & (at <= farthest), axis=1)
