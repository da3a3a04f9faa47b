"""A drawing as SVG text: a vector graphic for papers, slides and browsers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph_drawing.card_size import CardSize
from engine.graph_drawing.layout import Layout
from engine.graph_drawing.lines import lines_of
from engine.graph_drawing.routes import Route
from engine.graph_drawing.shown import ShownClass, ShownGraph

SVG_CARD: Final = CardSize(width=144, height=48, gap_across=16, gap_along=64)
"""Cards with room for a name on two lines."""
FONT_SIZE: Final = 13.0
"""Scene units; the lines of a name stand 16 apart."""
SMALL_FONT_SIZE: Final = 11.0
"""Of what a closed branch hides."""
LINE_STEP: Final = 16.0
"""Scene units from one line of a card to the next."""
PADDING: Final = 8.0
"""Scene units between a card's edge and its text, and at each side around the drawing three times as much."""
THINNEST: Final = 1.0
"""Width of an edge of weight 0 in scene units, and of all where no weights are known."""
WIDEST: Final = 4.0
"""Width of an edge of weight 1."""


@dataclass(frozen=True)
class SvgColours:
    """Colours of a drawing, each `#rrggbb`."""

    ground: str  # behind everything
    card: str  # of the cards
    border: str  # around them
    text: str  # names
    text_muted: str  # how many classes a closed branch hides
    edge: str  # edges


LIGHT: Final = SvgColours("#f5f6f4", "#ffffff", "#cfd4cb", "#1a1f1a", "#667064", "#8a9486")
DARK: Final = SvgColours("#141714", "#1b1f1b", "#434b43", "#eceeea", "#929b8f", "#737d70")


def svg_text(
    graph: CategoryGraph,
    shown: ShownGraph,
    layout: Layout,
    card: CardSize = SVG_CARD,
    *,
    colours: SvgColours = LIGHT,
    weights: Mapping[tuple[ClassId, ClassId], float] | None = None,
) -> str:
    """Draw a graph as SVG.

    Args:
        graph: the category graph, for the names.
        shown: what is drawn of it.
        layout: where it stands.
        card: the size of cards that `layout` was made with.
        colours: light or dark.
        weights: attention weight in [0, 1] of edges (parent, child); the heavier, the wider they are drawn.

    Returns:
        The text of a file that needs nothing else: no fonts, no images, no scripts.
    """
    left, top, width, height = layout.bounds
    margin = 3 * PADDING
    box = (left - margin, top - margin, width + 2 * margin, height + 2 * margin)
    lines = [
        *_opening(box, colours),
        f'<g fill="none" stroke="{colours.edge}" stroke-linecap="round">',
        *(_edge(route, (weights or {}).get(edge)) for edge, route in layout.routes.items()),
        f'</g><g fill="{colours.text}">',
        *(line for each in shown.classes for line in _card(graph, each, layout, card, colours)),
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


def _step(start: tuple[float, float], end: tuple[float, float]) -> str:
    """Straight down, or a curve that begins and ends downwards: it stays in the gap that its ends stand in."""
    (x, y), (end_x, end_y) = start, end
    middle = (y + end_y) / 2
    if x == end_x:
        return f"V{end_y:.1f}"
    return f"C{x:.1f} {middle:.1f} {end_x:.1f} {middle:.1f} {end_x:.1f} {end_y:.1f}"


def _card(
    graph: CategoryGraph, shown: ShownClass, layout: Layout, card: CardSize, colours: SvgColours
) -> Iterator[str]:
    """A card with the name on as many lines as it has; the whole name is its title."""
    x, y = layout.places[shown.class_id]
    name = graph.name(shown.class_id)
    most_lines = 1 if shown.hidden else 2
    lines = lines_of(name, card.width - 2 * PADDING, FONT_SIZE, most_lines)
    yield f"<g><title>{escape(name)}</title>"
    yield _box(x - card.width / 2, y - card.height / 2, card, colours)
    if shown.hidden:
        # What lies behind a closed branch looks out below it.
        start, length = f"M{x - card.width / 2 + PADDING:.1f} {y + card.height / 2 + 3:.1f}", card.width - 2 * PADDING
        yield f'<path d="{start}h{length:.1f}" stroke="{colours.border}" stroke-width="2"/>'
    base = y + FONT_SIZE / 3 - LINE_STEP * (len(lines) + bool(shown.hidden) - 1) / 2
    for number, line in enumerate(lines):
        yield f'<text x="{x:.1f}" y="{base + number * LINE_STEP:.1f}">{escape(line)}</text>'
    if shown.hidden:
        noun = "class" if shown.hidden == 1 else "classes"
        yield (
            f'<text x="{x:.1f}" y="{base + len(lines) * LINE_STEP:.1f}" font-size="{SMALL_FONT_SIZE:g}"'
            f" fill={quoteattr(colours.text_muted)}>{shown.hidden:,} {noun}</text>"
        )
    yield "</g>"


def _box(left: float, top: float, card: CardSize, colours: SvgColours) -> str:
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{card.width:g}" height="{card.height:g}" rx="6"'
        f' fill="{colours.card}" stroke="{colours.border}"/>'
    )
