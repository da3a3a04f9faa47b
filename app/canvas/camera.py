"""Camera of a canvas: the visible part of a plane."""

from __future__ import annotations

from dataclasses import dataclass, replace

Point = tuple[float, float]
Rect = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True)
class Camera:
    """Position and scale of a view, and its size."""

    x: float = 0.0  # coordinates of the view's centre in the plane
    y: float = 0.0
    scale: float = 1.0  # logical pixels per unit of the plane
    width: float = 1.0  # of the view in logical pixels
    height: float = 1.0

    def to_view(self, x: float, y: float) -> Point:
        return (
            (x - self.x) * self.scale + self.width / 2,
            (y - self.y) * self.scale + self.height / 2,
        )

    def to_plane(self, x: float, y: float) -> Point:
        return (
            (x - self.width / 2) / self.scale + self.x,
            (y - self.height / 2) / self.scale + self.y,
        )

    @property
    def seen(self) -> Rect:
        """The visible part of the plane."""
        return *self.to_plane(0, 0), *self.to_plane(self.width, self.height)

    def moved(self, dx: float, dy: float) -> Camera:
        """Pan by logical pixels."""
        return replace(self, x=self.x - dx / self.scale, y=self.y - dy / self.scale)

    def zoomed(self, scale: float, at: Point) -> Camera:
        """Zoom to a scale around the point `at` of the view."""
        x, y = self.to_plane(*at)
        x -= (at[0] - self.width / 2) / scale
        y -= (at[1] - self.height / 2) / scale
        return replace(self, x=x, y=y, scale=scale)

    def centred(self, box: Rect, scale: float, *, covered: float = 0.0) -> Camera:
        """Centre a box of the plane.

        Args:
            covered: logical pixels at the top of the view that are covered by other widgets.
        """
        y = (box[1] + box[3]) / 2 - covered / 2 / scale
        return replace(self, x=(box[0] + box[2]) / 2, y=y, scale=scale)

    def towards(self, goal: Camera, share: float) -> Camera:
        """Interpolate to another camera: the scale exponentially, points in both views straight."""
        if share >= 1:
            return goal
        scale = self.scale * (goal.scale / self.scale) ** share
        if abs(goal.scale - self.scale) < 1e-9 * self.scale:
            part = share
        else:
            part = (1 / self.scale - 1 / scale) / (1 / self.scale - 1 / goal.scale)
        x, y = self.x + part * (goal.x - self.x), self.y + part * (goal.y - self.y)
        return replace(self, x=x, y=y, scale=scale)
