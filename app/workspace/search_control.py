"""Connects the search field, its filters, the search and the cards."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from app.workspace.search_bar import SearchBar
from app.workspace.search_filters import FilterPopover
from app.workspace.searching import Searching

if TYPE_CHECKING:
    from app.image_grid.model import ImageGridModel
    from app.image_grid.view import ImageGrid
    from app.session import Session
    from app.session.subsets import ImageSet
    from app.workspace.header import Header


@final
class SearchControl(QObject):
    """Search of the grid; the popover of filters is created on first use."""

    found = Signal()  # the displayed images change
    followed = Signal()  # the same search has other hits, and the cards already follow

    def __init__(
        self, session: Session, header: Header, grid: ImageGrid, model: ImageGridModel
    ) -> None:
        super().__init__(grid)
        self._session, self._grid, self._model = session, grid, model
        self.bar, self.searching = SearchBar(), Searching(session, self)
        self.bar.text_edited.connect(self.searching.search)
        self.bar.left.connect(self._go_to_cards)
        self.bar.closed.connect(self._go_to_cards)
        self.bar.filters_wanted.connect(self._show_filters)
        self.searching.explained.connect(self.bar.show_problem)
        self.searching.found.connect(self.found)
        self.searching.followed.connect(self._on_hits_followed)
        header.search_chosen.connect(self._on_search_chosen)
        session.opened.connect(self._on_writable_changed)
        session.writable_changed.connect(self._on_writable_changed)

    def show(self, *, is_wanted: bool, count: int) -> None:
        """Show the field while a search is open in the grid, with the number of hits."""
        hits = self.searching.hits
        self.bar.show_count(
            None if hits is None else count, has_hits=hits is not None and bool(len(hits.image_ids))
        )
        self.bar.setVisible(is_wanted and (bool(self.searching.text) or self.bar.is_open))

    def _on_writable_changed(self) -> None:
        self.bar.can_save = self._session.is_writable
        self.bar.show_saved()

    def _on_search_chosen(self) -> None:
        if self.bar.isVisible():
            self.bar.close_search()
        else:
            self.bar.open()

    def _on_hits_followed(self, hits: ImageSet) -> None:
        self._model.follow_search(hits, self.searching.moved)
        self.followed.emit()

    def _go_to_cards(self) -> None:
        if self._model.rowCount() and self._grid.current_id is None:
            self._grid.select_row(0)
        self._grid.setFocus()

    def _show_filters(self) -> None:
        popover = self.bar.popover
        if popover is None:
            popover = self.bar.popover = FilterPopover(self.bar)
            popover.query_made.connect(self.bar.show_text)
        popover.show_query(self.bar.field.text())
        popover.toggle_below(self.bar.filter_button)
        self._session.ask(
            lambda live: live.metadata.choices(live.state.image_ids),
            popover.show_choices,
            owner=popover,
            topic="filters",
        )
