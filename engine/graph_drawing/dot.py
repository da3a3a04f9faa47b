"""A graph as text in the DOT language, which Graphviz and many others draw."""

from collections.abc import Iterator, Mapping
from typing import Final

from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph_drawing.shown import ShownGraph

WIDEST_PEN: Final = 4.0
"""Points that an edge of weight 1 is drawn wide; one of weight 0 is drawn one point wide."""


def dot_text(
    graph: CategoryGraph,
    *,
    shown: ShownGraph | None = None,
    weights: Mapping[tuple[ClassId, ClassId], float] | None = None,
) -> str:
    """Write a graph as DOT, parents above their children.

    Args:
        graph: the category graph.
        shown: what of it; by default all.
        weights: attention weight in [0, 1] of edges (parent, child); the heavier, the wider they are drawn.

    Returns:
        The text. Each class is written once with its name as the label, so that equal names stay apart.
    """
    return "\n".join(_lines(graph, shown, weights or {})) + "\n"


def _lines(
    graph: CategoryGraph, shown: ShownGraph | None, weights: Mapping[tuple[ClassId, ClassId], float]
) -> Iterator[str]:
    hidden = {each.class_id: each.hidden for each in shown.classes} if shown else dict.fromkeys(graph.classes(), 0)
    yield 'digraph "Classes" {'
    yield "  rankdir=TB;"
    yield '  node [shape=box, style=rounded, fontname="sans-serif"];'
    for class_id, below in hidden.items():
        more = f"\\n+ {below:,}" if below else ""
        yield f'  c{class_id} [label="{_escaped(graph.name(class_id))}{more}"];'
    for parent, child in shown.edges if shown else graph.edges():
        weight = weights.get((parent, child))
        look = "" if weight is None else f" [penwidth={1 + (WIDEST_PEN - 1) * weight:.2f}, weight={1 + 9 * weight:.0f}]"
        yield f"  c{parent} -> c{child}{look};"
    yield "}"


def _escaped(name: str) -> str:
    r"""Inside quotes a backslash begins an escape, such as \n for a new line or \N for the node's own name."""
    return name.replace("\\", "\\\\").replace('"', '\\"')
