"""A drawing as SVG, and a graph in the DOT language of Graphviz."""

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from xml.sax.saxutils import escape, quoteattr

from engine.graph.category_graph import CategoryGraph
from engine.graph_drawing.layout import CardSize, Layout, Point, Route
from engine.graph_drawing.shown import Edge, ShownClass, ShownGraph

SVG_CARD = CardSize(width=144, height=48, gap_across=16, gap_along=64)
"""Cards with room for a name on two lines."""
FONT_SIZE = 13.0  # scene units; the lines of a name are 16 apart
SMALL_FONT_SIZE = 11.0  # of what a closed branch hides
LINE_STEP = 16.0  # scene units from one line of a card to the next
PADDING = 8.0
"""Scene units between a card's edge and its text; the margin is three times as wide."""
THINNEST = 1.0
"""Width of an edge of weight 0 in scene units, and of all where no weights are known."""
WIDEST = 4.0  # width of an edge of weight 1
# Shares of the font size, as sans-serif faces such as DejaVu Sans (a wide one) draw them.
NARROW = 0.42
USUAL = 0.66
CAPITAL = 0.80
BROAD = 1.0
_NARROW_LETTERS = frozenset("iljtfrI|!.,:;'`()[]{} -/\\")
_BROAD_LETTERS = frozenset("mwMW@%&—")
ELLIPSIS = "…"
WIDEST_PEN = 4.0
"""Points that an edge of weight 1 is drawn wide; one of weight 0 is drawn one point wide."""


@dataclass(frozen=True)
class SvgColours:
    """Colours of a drawing, each `#rrggbb`."""

    ground: str  # behind everything
    card: str  # of the cards
    border: str  # around them
    text: str  # names
    text_muted: str  # how many classes a closed branch hides
    edge: str  # edges


LIGHT = SvgColours("#f5f6f4", "#ffffff", "#cfd4cb", "#1a1f1a", "#667064", "#8a9486")
DARK = SvgColours("#141714", "#1b1f1b", "#434b43", "#eceeea", "#929b8f", "#737d70")


def svg_text(
    graph: CategoryGraph,
    shown: ShownGraph,
    layout: Layout,
    *,
    colours: SvgColours = LIGHT,
    weights: Mapping[Edge, float] | None = None,
) -> str:
    """Draw a graph as SVG, without fonts, images or scripts.

    Args:
        weights: attention weight in [0, 1] of edges (parent, child); the heavier, the wider they
            are drawn.
    """
    left, top, width, height = layout.bounds
    margin = 3 * PADDING
    box = (left - margin, top - margin, width + 2 * margin, height + 2 * margin)
    lines = [
        *_opening(box, colours),
        f'<g fill="none" stroke="{colours.edge}" stroke-linecap="round">',
        *(_edge(route, (weights or {}).get(edge)) for edge, route in layout.routes.items()),
        f'</g><g fill="{colours.text}">',
        *(line for each in shown.classes for line in _card(graph, each, layout, colours)),
        "</g></svg>",
    ]
    return "\n".join(lines) + "\n"


def _opening(box: tuple[float, float, float, float], colours: SvgColours) -> Iterator[str]:
    x, y, width, height = (f"{each:.1f}" for each in box)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
    yield f' viewBox="{x} {y} {width} {height}"'
    yield f' font-family="sans-serif" font-size="{FONT_SIZE:g}" text-anchor="middle">'
    yield f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{colours.ground}"/>'


def _edge(route: Route, weight: float | None) -> str:
    width = THINNEST if weight is None else THINNEST + (WIDEST - THINNEST) * weight
    start_x, start_y = route[0]
    steps = [f"M{start_x:.1f} {start_y:.1f}", *(_step(*ends) for ends in pairwise(route))]
    return f'<path d="{"".join(steps)}" stroke-width="{width:.2f}"/>'


def _step(start: Point, end: Point) -> str:
    """A vertical line, or a curve with vertical ends, which stays in the gap between layers."""
    (x, y), (end_x, end_y) = start, end
    middle = (y + end_y) / 2
    if x == end_x:
        return f"V{end_y:.1f}"
    return f"C{x:.1f} {middle:.1f} {end_x:.1f} {middle:.1f} {end_x:.1f} {end_y:.1f}"


def _card(
    graph: CategoryGraph, shown: ShownClass, layout: Layout, colours: SvgColours
) -> Iterator[str]:
    """A card with the name on as many lines as it has; the whole name is its title."""
    card, (x, y) = SVG_CARD, layout.places[shown.class_id]
    name = graph.shown_name(shown.class_id)
    most_lines = 1 if shown.hidden else 2
    lines = lines_of(name, card.width - 2 * PADDING, FONT_SIZE, most_lines)
    yield f"<g><title>{escape(name)}</title>"
    yield (
        f'<rect x="{x - card.width / 2:.1f}" y="{y - card.height / 2:.1f}" width="{card.width:g}"'
        f' height="{card.height:g}" rx="6" fill="{colours.card}" stroke="{colours.border}"/>'
    )
    if shown.hidden:
        # A hint of a second card marks a collapsed branch.
        start = f"M{x - card.width / 2 + PADDING:.1f} {y + card.height / 2 + 3:.1f}"
        length = card.width - 2 * PADDING
        yield f'<path d="{start}h{length:.1f}" stroke="{colours.border}" stroke-width="2"/>'
    base = y + FONT_SIZE / 3 - LINE_STEP * (len(lines) + bool(shown.hidden) - 1) / 2
    for number, line in enumerate(lines):
        yield f'<text x="{x:.1f}" y="{base + number * LINE_STEP:.1f}">{escape(line)}</text>'
    if shown.hidden:
        noun = "class" if shown.hidden == 1 else "classes"
        yield (
            f'<text x="{x:.1f}" y="{base + len(lines) * LINE_STEP:.1f}"'
            f' font-size="{SMALL_FONT_SIZE:g}"'
            f" fill={quoteattr(colours.text_muted)}>{shown.hidden:,} {noun}</text>"
        )
    yield "</g>"


def lines_of(name: str, width: float, font_size: float, most: int) -> list[str]:
    """Break a name into lines between words, one to `most`; what does not fit ends in an ellipsis.

    Widths are estimated without a font, rather too wide than too narrow, in the unit of the font's
    size.
    """
    lines: list[str] = []
    rest = name.split(" ")
    while rest:
        line = rest.pop(0)
        while rest and text_width(f"{line} {rest[0]}", font_size) <= width:
            line = f"{line} {rest.pop(0)}"
        if len(lines) + 1 == most and rest:
            return [*lines, _shortened(" ".join([line, *rest]), width, font_size)]
        lines.append(_shortened(line, width, font_size))
    return lines


def text_width(text: str, font_size: float) -> float:
    """Estimated width in the unit of the font's size, rather too wide."""
    return sum(map(_share, text)) * font_size


def _shortened(text: str, width: float, font_size: float) -> str:
    if text_width(text, font_size) <= width:
        return text
    room = width - text_width(ELLIPSIS, font_size)
    kept = 0
    for letter in text:
        room -= _share(letter) * font_size
        if room < 0:
            break
        kept += 1
    # Combining marks belong to the letter before them.
    while 0 < kept < len(text) and unicodedata.combining(text[kept]):
        kept -= 1
    return text[: max(kept, 1)].rstrip() + ELLIPSIS


def _share(letter: str) -> float:
    if letter in _NARROW_LETTERS:
        return NARROW
    if letter in _BROAD_LETTERS or unicodedata.east_asian_width(letter) in "WF":
        return BROAD
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0.0
    return CAPITAL if letter.isupper() else USUAL


def dot_text(
    graph: CategoryGraph,
    *,
    weights: Mapping[Edge, float] | None = None,
) -> str:
    """Write a graph as DOT, parents above their children; `weights` as in `svg_text`."""
    return "\n".join(_lines(graph, weights or {})) + "\n"


def _lines(graph: CategoryGraph, weights: Mapping[Edge, float]) -> Iterator[str]:
    yield 'digraph "Classes" {'
    yield "  rankdir=TB;"
    yield '  node [shape=box, style=rounded, fontname="sans-serif"];'
    for class_id in graph.classes():
        yield f'  c{class_id} [label="{_escaped(graph.name(class_id))}"];'
    for parent, child in graph.edges():
        weight = weights.get((parent, child))
        look = ""
        if weight is not None:
            look = f" [penwidth={1 + (WIDEST_PEN - 1) * weight:.2f}, weight={1 + 9 * weight:.0f}]"
        yield f"  c{parent} -> c{child}{look};"
    yield "}"


def _escaped(name: str) -> str:
    r"""Escape a name for DOT: a backslash would begin an escape such as \n or \N."""
    return name.replace("\\", "\\\\").replace('"', '\\"')
