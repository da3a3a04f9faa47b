"""The command palette: every action that can be done now, and every class."""

from collections.abc import Callable
from typing import TYPE_CHECKING, final

from app.actions.registry import Registry
from app.palette.logic import Choice, ClassChoice, CommandChoice, PaletteRow, class_rows, commands_for
from app.palette.view import Palette
from app.texts import tr

if TYPE_CHECKING:  # the window shows first
    from engine.graph.category_graph import CategoryGraph


@final
class Commands:
    """Opens the palette and does what is chosen there.

    Args:
        palette: where the person types.
        registry: does actions.
        graph: the classes of the open project.
        show_class: shows a class that was chosen.
    """

    def __init__(
        self,
        palette: Palette,
        registry: Registry,
        graph: "Callable[[], CategoryGraph]",
        show_class: Callable[[int], None],
    ) -> None:
        self._palette = palette
        self._registry = registry
        self._graph = graph
        self._show_class = show_class

    def open(self) -> None:
        """Ask for a command or a class."""
        self._palette.ask(
            tr("Search commands and classes"),
            self._rows,
            self._on_choice,
            foot=tr("Enter runs it · Esc closes"),
        )

    def _rows(self, text: str) -> list[PaletteRow]:
        rows = commands_for(self._registry.palette_rows(), text)
        return rows + (class_rows(self._graph(), text) if text.strip() else [])

    def _on_choice(self, choice: Choice) -> None:
        if isinstance(choice, CommandChoice):
            self._registry.trigger(choice.name)
        elif isinstance(choice, ClassChoice):
            self._show_class(choice.class_id)
