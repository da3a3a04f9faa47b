"""Colours of classes on a map: those of Okabe and Ito (2008), which colour-blind people tell apart, and a few more."""

from typing import Final

LIGHT: Final = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#b5557f",
    "#8f7a00",
    "#56a5d8",
    "#6b4fa1",
    "#e08e00",
    "#7a4b2a",
    "#4c5a66",
)
"""Darker, for a light ground."""
DARK: Final = (
    "#4aa8e0",
    "#f07f3c",
    "#2fc79a",
    "#e08bb4",
    "#d9c84a",
    "#9ad0f5",
    "#a58ae0",
    "#f5b33d",
    "#c08a62",
    "#9fb0bf",
)
"""Lighter, for a dark one."""
OTHER_LIGHT: Final = "#c9cec6"
OTHER_DARK: Final = "#4b534b"


def argb(colour: str) -> int:
    """An opaque colour `#rrggbb` as a number 0xAARRGGBB."""
    return 0xFF000000 | int(colour[1:7], 16)
