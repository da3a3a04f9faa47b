"""How a person is asked in the palette: for one of a few ways, or for a class."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from app.palette.logic import Choice, ClassChoice, OptionChoice, PaletteRow, class_rows

if TYPE_CHECKING:
    from app.palette.view import Palette
    from engine.graph.category_graph import CategoryGraph


def ask_option(
    palette: Palette, prompt: str, rows: Sequence[PaletteRow], on_place: Callable[[int], None], *, foot: str
) -> None:
    def rows_for(text: str) -> list[PaletteRow]:
        words = text.casefold().split()
        return [row for row in rows if all(word in row.title.casefold() for word in words)]

    def on_choice(choice: Choice) -> None:
        if isinstance(choice, OptionChoice):
            on_place(choice.place)

    palette.ask(prompt, rows_for, on_choice, foot=foot)


def ask_class(
    palette: Palette,
    graph: CategoryGraph,
    prompt: str,
    on_class: Callable[[int], None],
    *,
    foot: str,
    without: Collection[int] = (),
    first: Sequence[int] = (),
    other: tuple[PaletteRow, Callable[[], None]] | None = None,
) -> None:
    """Ask for one of the classes; `other` is a row that is no class, offered first, and what choosing it does."""

    def rows_for(text: str) -> list[PaletteRow]:
        rows = [row for row in class_rows(graph, text, first=first) if _class_of(row) not in without]
        is_offered = other is not None and text.strip().casefold() in other[0].title.casefold()
        return [other[0], *rows] if other is not None and is_offered else rows

    def on_choice(choice: Choice) -> None:
        if isinstance(choice, ClassChoice):
            on_class(choice.class_id)
        elif other is not None:
            other[1]()

    palette.ask(prompt, rows_for, on_choice, foot=foot)


def and_below(graph: CategoryGraph, class_ids: Sequence[int]) -> set[int]:
    """Classes and all below them: none of them can go under one of these."""
    return set(class_ids).union(*(graph.descendants(class_id) for class_id in class_ids))


def _class_of(row: PaletteRow) -> int | None:
    return row.choice.class_id if isinstance(row.choice, ClassChoice) else None
