"""The visible part of a picture, relative to its size, so that other pictures can show the same."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SharedView:
    """Zoom and position, both relative to the picture."""

    zoom: float = 1.0  # times the fitted size
    x: float = 0.5  # centre of the view, in shares of the picture's width
    y: float = 0.5


FITTED = SharedView()
