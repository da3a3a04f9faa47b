"""Graphs to draw, and what must hold for every drawing."""

import random
from collections.abc import Iterator
from itertools import pairwise

from hypothesis import strategies as st

from engine.graph.category_graph import CategoryGraph
from engine.graph_drawing.layout import CardSize, Layout, Point

CARD = CardSize(width=160, height=60, gap_across=16, gap_along=70)
TOUCH = 1e-6
"""Rounding: as near as this is not over one another."""


@st.composite
def graphs(draw: st.DrawFn, most: int = 30) -> CategoryGraph:
    """Graphs of any shape: each class lies below some of the earlier ones."""
    graph = CategoryGraph()
    for number in range(draw(st.integers(0, most))):
        parents = draw(st.sets(st.sampled_from(graph.classes()), max_size=3)) if number else set()
        graph.add_class(f"Class {number}", sorted(parents))
    return graph


def bushy_graph(count: int, further_edges: int, *, seed: int = 0) -> CategoryGraph:
    """A graph drawn by a seed, in which about every fifth class has children.

    Some classes get a further parent.
    """
    chance = random.Random(seed)
    graph = CategoryGraph()
    for number in range(count):
        near = range(max(0, number // 5 - 3), number // 5 + 1)
        graph.add_class(
            f"Class {number}", [] if number < 3 else [graph.classes()[chance.choice(near)]]
        )
    missing = further_edges
    while missing:
        parent, child = sorted(chance.sample(graph.classes(), 2))
        if parent not in graph.parents(child):
            graph.link(parent, child)
            missing -= 1
    return graph


def cards_over_one_another(layout: Layout, card: CardSize = CARD) -> list[tuple[int, int]]:
    """Pairs of classes whose cards touch."""
    in_order = sorted(layout.places.items(), key=lambda each: each[1])
    found: list[tuple[int, int]] = []
    near: list[tuple[int, Point]] = []
    for class_id, (x, y) in in_order:
        near = [(other, at) for other, at in near if at[0] + card.width > x + TOUCH]
        found += [(other, class_id) for other, at in near if abs(at[1] - y) + TOUCH < card.height]
        near.append((class_id, (x, y)))
    return found


def edges_over_cards(
    layout: Layout, card: CardSize = CARD
) -> Iterator[tuple[tuple[int, int], int]]:
    """Edges that run over a card, with the class whose card it is."""
    for edge, route in layout.routes.items():
        for class_id, at in layout.places.items():
            if any(_is_over(start, end, at, card) for start, end in pairwise(route)):
                yield edge, class_id


def _is_over(start: Point, end: Point, at: Point, card: CardSize) -> bool:
    """Whether a stretch has a point inside a card (Liang and Barsky's clipping)."""
    first, last = 0.0, 1.0
    for axis, half in enumerate((card.width / 2 - TOUCH, card.height / 2 - TOUCH)):
        low, high = at[axis] - half - start[axis], at[axis] + half - start[axis]
        step = end[axis] - start[axis]
        if abs(step) < TOUCH:
            if low >= 0 or high <= 0:
                return False
            continue
        enter, leave = sorted((low / step, high / step))
        first, last = max(first, enter), min(last, leave)
    return first < last
