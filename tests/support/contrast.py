"""Contrast of colours by WCAG 2, and colours in a style sheet."""

import re
from collections.abc import Iterator

from PySide6.QtGui import QColor

READABLE = 4.5
VISIBLE = 3.0

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_COLOUR = re.compile(r"#[0-9a-f]{6,8}")
_SUBCONTROL = re.compile(r"::([a-z-]+)")
_WITH_WORDS = {"item", "tab", "section", "title"}

Rules = dict[str, dict[str, str]]


def luminance(colour: str) -> float:
    """Relative luminance by WCAG 2."""
    parts = [QColor(colour).redF(), QColor(colour).greenF(), QColor(colour).blueF()]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    """Contrast ratio by WCAG 2."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def over(veil: str, ground: str) -> str:
    """Composite `#aarrggbb` over an opaque background."""
    top, below = QColor(veil), QColor(ground)

    def mixed(part: float, ground_part: float) -> float:
        return top.alphaF() * part + (1 - top.alphaF()) * ground_part

    red, green = mixed(top.redF(), below.redF()), mixed(top.greenF(), below.greenF())
    return QColor.fromRgbF(red, green, mixed(top.blueF(), below.blueF())).name()


def rules_of(sheet: str) -> Rules:
    """Declarations by selector, later ones over earlier ones."""
    rules: Rules = {}
    for selectors, body in _RULE.findall(_COMMENT.sub("", sheet)):
        pairs = [line.partition(":") for line in body.split(";") if ":" in line]
        declared = {name.strip(): value.strip() for name, _, value in pairs}
        for selector in selectors.split(","):
            rules.setdefault(" ".join(selector.split()), {}).update(declared)
    return rules


def declared(rules: Rules, selector: str, name: str) -> str:
    """The colour of a selector, or of a less specific one; empty if undeclared."""
    while selector:
        found = _COLOUR.search(rules.get(selector, {}).get(name, ""))
        if found is not None:
            return found[0]
        if rules.get(selector, {}).get(name) == "transparent":
            return ""
        selector = _plainer(selector)
    return ""


def _plainer(selector: str) -> str:
    """Without its last state, else its last attribute; finally the universal selector."""
    shorter = re.sub(r"(?<!:):[a-z-]+$", "", selector)
    if shorter == selector:
        shorter = re.sub(r"\[[^\]]*\]$", "", selector)
    if shorter == selector:
        return "" if selector == "QWidget" else "QWidget"
    return shorter


def with_words(rules: Rules) -> Iterator[str]:
    """Selectors of enabled widgets with text."""
    for selector in rules:
        parts = _SUBCONTROL.findall(selector)
        if ":disabled" not in selector and set(parts) <= _WITH_WORDS:
            yield selector
