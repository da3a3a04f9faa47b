"""What part of a picture is seen, so that pictures of other sizes and shapes can show the same part."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class SharedView:
    """Magnification and place, both relative to the picture."""

    zoom: float = 1.0  # times the fitted size
    x: float = 0.5  # of the picture's width, in the middle of the room
    y: float = 0.5


FITTED: Final = SharedView()
