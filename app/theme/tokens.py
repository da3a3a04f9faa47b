"""Design tokens: colours for light and dark, an 8-pixel grid, type sizes, radii."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum


class Scheme(StrEnum):
    """Whether the window is light or dark."""

    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True)
class Colours:
    """Every colour of the program, as `#rrggbb` or `#aarrggbb`, named by its use."""

    window: str  # background behind the panes
    surface: str  # panes, cards, fields
    raised: str  # menus, pop-ups and other floating surfaces
    sunken: str  # wells, image backgrounds, tracks of bars
    hairline: str  # separators
    border: str  # edges of fields and buttons
    hover: str  # overlays of a surface under the pointer
    pressed: str
    text: str  # primary to muted; all reach a contrast of 4.5:1
    text_secondary: str
    text_muted: str
    text_disabled: str  # text of disabled controls
    accent: str  # the leaf green, for selections and primary buttons
    accent_hover: str
    accent_pressed: str
    on_accent: str  # text on the accent
    accent_soft: str  # background of a selection
    accent_text: str  # text and icons in the accent's hue, on any surface
    danger: str  # failures
    danger_soft: str
    warning: str  # warnings
    warning_soft: str
    inverse: str  # toasts and tooltips, their text, their button
    on_inverse: str
    inverse_accent: str
    focus: str  # focus ring
    shadow: str  # below floating surfaces


@dataclass(frozen=True)
class Spacing:
    """Distances in logical pixels, on a grid of eight with a half step."""

    hair: int = 1
    tiny: int = 4
    small: int = 8
    medium: int = 16
    large: int = 24
    huge: int = 40
    radius_small: int = 6
    radius: int = 8
    radius_large: int = 12
    control_height: int = 32


@dataclass(frozen=True)
class TypeSizes:
    """Text sizes in logical pixels, in proportion to the system font."""

    caption: int
    body: int
    heading: int
    title: int

    @classmethod
    def around(cls, body: int) -> TypeSizes:
        """Sizes for a system font of `body` pixels."""
        return cls(
            caption=max(10, round(body * 0.86)),
            body=body,
            heading=round(body * 1.18),
            title=round(body * 1.65),
        )


@dataclass(frozen=True)
class Tokens:
    """One complete theme."""

    scheme: Scheme
    colours: Colours
    spacing: Spacing
    sizes: TypeSizes

    def names(self) -> dict[str, str]:
        """All values by name for the style sheet: colours, and lengths without a unit."""
        parts: tuple[Colours | Spacing | TypeSizes, ...] = (self.colours, self.spacing, self.sizes)
        return {
            field.name: str(getattr(part, field.name)) for part in parts for field in fields(part)
        }


LIGHT = Colours(
    window="#f5f6f4",
    surface="#ffffff",
    raised="#ffffff",
    sunken="#eef0ec",
    hairline="#e3e6e0",
    border="#cfd4cb",
    hover="#0d1c2a1c",
    pressed="#1a1c2a1c",
    text="#1a1f1a",
    text_secondary="#4f574d",
    text_muted="#667064",
    text_disabled="#a3aaa0",
    accent="#2c7a4b",
    accent_hover="#256a40",
    accent_pressed="#1d5834",
    on_accent="#ffffff",
    accent_soft="#dff0e5",
    accent_text="#1f6b3f",
    danger="#b93229",
    danger_soft="#fbe9e7",
    warning="#8a5a00",
    warning_soft="#fdf1d8",
    inverse="#262c26",
    on_inverse="#f3f5f1",
    inverse_accent="#8fdaab",
    focus="#5fae7f",
    shadow="#2e000000",
)

DARK = Colours(
    window="#141714",
    surface="#1b1f1b",
    raised="#262b26",
    sunken="#111311",
    hairline="#2b312b",
    border="#434b43",
    hover="#12ffffff",
    pressed="#1fffffff",
    text="#eceeea",
    text_secondary="#b9c1b6",
    text_muted="#929b8f",
    text_disabled="#5d665b",
    accent="#5cb983",
    accent_hover="#70c794",
    accent_pressed="#4aa46f",
    on_accent="#0b1d12",
    accent_soft="#213b2b",
    accent_text="#86d5a4",
    danger="#f1867c",
    danger_soft="#3d2220",
    warning="#e2b457",
    warning_soft="#3a2f17",
    inverse="#353c35",
    on_inverse="#f1f4ef",
    inverse_accent="#8fdaab",
    focus="#5cb983",
    shadow="#80000000",
)

_COLOURS = {Scheme.LIGHT: LIGHT, Scheme.DARK: DARK}
_BODY_PIXELS = 13


def make_tokens(scheme: Scheme, body_pixels: int = _BODY_PIXELS) -> Tokens:
    """The tokens of a scheme, in proportion to a body text of `body_pixels`."""
    return Tokens(scheme, _COLOURS[scheme], Spacing(), TypeSizes.around(body_pixels))


_current = make_tokens(Scheme.LIGHT)


def tokens() -> Tokens:
    """The tokens of the current theme.

    Call it at every paint, do not store the result: the theme may switch at any time.
    """
    return _current


def apply_look(look: Tokens) -> None:
    """Set the current tokens; only called by `app.theme.scheme`, which also repaints everything."""
    global _current  # noqa: PLW0603 (one theme per program)
    _current = look
