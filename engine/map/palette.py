"""Colours of classes on a map: the colour-blind safe palette of Okabe and Ito (2008), and more."""

LIGHT = (
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
"""For a light background."""
DARK = (
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
"""For a dark background."""
OTHER_LIGHT = "#c9cec6"
OTHER_DARK = "#4b534b"


def argb(colour: str) -> int:
    """The opaque colour `#rrggbb` as 0xAARRGGBB."""
    return 0xFF000000 | int(colour[1:7], 16)
