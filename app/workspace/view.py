"""The central pane: header, grid, large image, class graph, and the page for an empty grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.actions.keys import keys_in_use
from app.actions.row import ActionRow
from app.class_requests import ClassRequests
from app.controls import fill_column, make_column
from app.graph_view.view import GraphView
from app.image_grid.card_words import CardWords
from app.image_grid.held_order import Order
from app.image_grid.model import ImageGridModel
from app.image_grid.view import ImageGrid
from app.images.thumbnails import Thumbnails
from app.session.subsets import ImageSet, Subset
from app.settings import Settings
from app.status.footer import StatusFooter
from app.status.notice import Notice
from app.workspace.active_images import ActiveImages
from app.workspace.empty_page import EmptyPage, emptiness_of
from app.workspace.folds import CardFolds
from app.workspace.header import Header
from app.workspace.one_image import OneImage
from app.workspace.project_order import ProjectOrder
from app.workspace.search_control import SearchControl
from app.workspace.selection_bar import SelectionBar
from app.workspace.shown import Shown
from app.workspace.visits import Describes, PageVisit
from engine.graph.edits import ClassAdded, GraphEdit

if TYPE_CHECKING:
    from app.session import Session
    from engine.collection.state import CollectionState


# Cards whose guesses are prefetched: five seconds of work at five labels a second.
AHEAD = 24
_WORK = frozenset({QEvent.Type.MouseButtonPress, QEvent.Type.KeyPress, QEvent.Type.Wheel})


@final
class Workspace(QWidget):
    """Shows the images of a subset or class."""

    subset_wanted = Signal(Subset)  # to be selected in the list
    page_left = Signal(QWidget)  # a feature's page that was closed
    front_changed = Signal()  # cards, graph, large image or a feature's page came to the front

    def __init__(
        self,
        session: Session,
        thumbnails: Thumbnails,
        settings: Settings,
        rows: Mapping[str, ActionRow],
        requests: ClassRequests,
    ) -> None:
        super().__init__()
        self._session = session
        self._settings = settings
        self.model = ImageGridModel(CardWords(self._name_of, self._key_of), self)
        self.grid = ImageGrid(self.model, thumbnails)
        session.marks.changed.connect(self.grid.viewport().update)
        self.header = Header()
        self.notice = Notice()
        self.missing_notice = Notice(tone="warning")
        self.replaced_notice = Notice(tone="warning")
        self.offer_notice = Notice(tone="")
        self.graph = GraphView(session, thumbnails, lambda: settings.is_calm, requests)
        self.is_graph_shown = False
        self.active_images = ActiveImages(self.grid, self.model)
        self._is_behind = False  # whether the cards are older than the state
        self.empty = EmptyPage(rows)
        self.selection_bar = SelectionBar(session, settings)
        self.content = QStackedWidget()
        self._one_image = OneImage(session, self.grid, self.content)
        self.image_view = self._one_image.view
        self._search = SearchControl(session, self.header, self.grid, self.model)
        self.search_bar, self.searching = self._search.bar, self._search.searching
        self._shown = Shown(session, self.grid, self.searching)
        self._page = PageVisit(self.content)
        self.folds = CardFolds(
            self.grid,
            self.model,
            self._show_title,
            lambda: not (self.is_image_open or self._page.page),
        )
        for page in (self.grid, self.empty, self.image_view, self.graph):
            self.content.addWidget(page)
        self._lay_out()
        self._connect(requests)
        self._restore()

    def _lay_out(self) -> None:
        self.setProperty("surface", "window")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        offer, self.footer = make_column(self.offer_notice), StatusFooter()
        # The offer is only shown with images; hints also with a large image and the graph; none
        # with pages.
        images, own = (self.grid, self.empty), (self.grid, self.empty, self.image_view, self.graph)
        for strip, places in ((offer, images), (self.footer, own)):
            self.content.currentChanged.connect(
                lambda _place, strip=strip, places=places: strip.setVisible(
                    self.content.currentWidget() in places
                )
            )
        notices = (self.missing_notice, self.replaced_notice, self.notice, offer)
        holder = fill_column(None, *notices, margins=(16, 0, 16, 0))
        above, below = (self.header, self.search_bar, holder), (self.footer, self.selection_bar)
        fill_column(self, *above, self.content, *below, spacing=0, grows=len(above))

    def _connect(self, requests: ClassRequests) -> None:
        self.content.currentChanged.connect(self.front_changed)
        self._page.left.connect(self._on_page_ended)
        self._page.left.connect(self.page_left)
        self.header.back_chosen.connect(self.go_back)
        self._search.found.connect(self._refilter)
        self._search.followed.connect(self._show_title)
        self.header.subset_chosen.connect(self._on_chip_chosen)
        self.header.order_chosen.connect(self.choose_order)
        self.header.own_order_chosen.connect(self.choose_own_order)
        self.header.sort_again.clicked.connect(self.sort_again)
        self.header.switch.graph_chosen.connect(self.show_graph)
        requests.images_requested.connect(lambda _class_id: self.show_graph(False))
        self.header.zoom_chosen.connect(self.grid.set_thumbnail_side)
        self.grid.zoom_changed.connect(self._on_zoom_changed)
        self.grid.open_requested.connect(self.open_image)
        self.grid.images_selected.connect(self._show_selected)
        self.page_left.connect(self._show_selected)
        self.grid.viewport().installEventFilter(self.selection_bar)
        self.selection_bar.left.connect(self.grid.setFocus)
        self.selection_bar.dismissed.connect(self._on_selection_dismissed)
        self.grid.current_image_changed.connect(self._on_current_image_changed)
        for part in (self.grid, self.grid.viewport()):
            part.installEventFilter(self)
        self.image_view.left.connect(self.leave_image)
        self.image_view.step_requested.connect(self.step)
        self._session.state_changed.connect(self._on_state_changed)
        self._session.current_card.changed.connect(self._on_active_images_changed)
        self._session.graph_changed.connect(self._on_graph_changed)
        self._session.closed.connect(self._on_session_closed)
        self._session.making.slot.stage_changed.connect(self._show_title)
        keys_in_use().changed.connect(self._show_title)

    def _restore(self) -> None:
        self._order = ProjectOrder(
            self._session, self._settings, self._set_order, lambda: self.model.is_held, self
        )
        self.grid.set_thumbnail_side(self._settings.zoom)
        self.header.show_zoom(self.grid.thumbnail_side)
        self._refilter()

    @property
    def class_id(self) -> int | None:
        """The displayed class; None for the whole collection."""
        return self._shown.class_id

    def show_subset(self, subset: Subset) -> None:
        self._leave_visits()
        self._shown.choose(subset)
        self._refilter()

    def show_class(self, class_id: int, chosen: Sequence[int] = ()) -> None:
        """Show a class, the further selected ones, and their descendants."""
        self._leave_visits()
        self._shown.choose(Subset.ALL, class_id, chosen)
        self._refilter()

    def show_further(self, chosen: Sequence[int]) -> None:
        """Update the further selected classes."""
        if self._shown.choose_further(chosen):
            self._refilter()

    def show_subset_of_class(self, subset: Subset) -> None:
        self._shown.subset = subset
        self._refilter()

    # -- sets of images, and pages of features

    @property
    def images(self) -> ImageSet | None:
        """The displayed set, if any."""
        return self._shown.images

    def show_images(self, images: ImageSet) -> None:
        """Show a set of images, until the user goes back or chooses a subset or class."""
        page = (
            None
            if self._page.page is None
            else (self._page.page, self._page.title, self._page.describes)
        )
        self._page.end()
        if self.is_graph_shown:
            self.show_graph(False)
        self._shown.visit.begin(images, self._shown.subset, page)
        self._shown.subset = Subset.ALL
        self._refilter()
        self.grid.select_row(0)
        self.grid.setFocus()

    @property
    def page(self) -> QWidget | None:
        """The displayed page of a feature, if any."""
        return self._page.page

    @property
    def describes(self) -> Describes:
        """Which image the inspector describes."""
        if self._page.page is not None:
            return self._page.describes
        return Describes.LARGE_IMAGE if self.is_image_open else Describes.IMAGE

    def show_page(
        self,
        page: QWidget,
        title: str,
        describes: Describes = Describes.IMAGE,
        *,
        rests_grid: bool = False,
    ) -> None:
        """Show a feature's page in the centre, or change its title.

        Args:
            describes: what the inspector describes meanwhile.
            rests_grid: whether cards ignore changes until the page is closed: sorting 100,000 takes
                half a frame.
        """
        self.leave_image()
        is_new = self._page.page is not page
        self._page.begin(page, title, describes=describes, rests_grid=rests_grid)
        self._show_selected()
        self._show_title()
        if is_new:
            page.setFocus()

    def _show_selected(self) -> None:
        """Update the bar of several selected cards, where these are visible."""
        chosen = self.grid.selected_ids if self._page.page is None else ()
        self.selection_bar.show_selected(self.folds.under(chosen) if len(chosen) > 1 else chosen)

    def close_page(self, page: QWidget) -> None:
        if self._page.page is page:
            self._page.end()
            self._show_title()
            (self.graph if self.is_graph_shown else self.grid).setFocus()

    def go_back(self) -> None:
        """Go back: from a page to the view before, from a set to its page or to all images.

        The scroll position is restored.
        """
        if self._page.page is not None:
            self.close_page(self._page.page)
        elif self._shown.images is not None:
            page, place = self._shown.visit.page, self._shown.visit.end()
            if place is not None:
                self._shown.subset = place.subset
            self._refilter()
            if place is not None:
                place.go_to(self.grid)
            self.grid.setFocus()
            if page is not None:
                self.show_page(*page)

    # -- searching

    def open_search(self) -> None:
        """Open the search field."""
        self._page.end()
        if self.is_graph_shown:
            self.show_graph(False)
        self.search_bar.open()

    def _leave_visits(self) -> None:
        self._page.end()
        self._shown.visit.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go back on Esc, where no child widget handled it."""
        if event.key() == Qt.Key.Key_Escape and (
            self._page.page is not None or self._shown.images is not None
        ):
            self.go_back()
        elif event.key() == Qt.Key.Key_Escape and self.search_bar.isVisible():
            self.search_bar.close_search()
        else:
            super().keyPressEvent(event)

    def show_image(self, image_id: int) -> None:
        """Bring an image into view; resets the filter where it excludes the image."""
        self._page.end()
        if self.is_graph_shown:
            self.show_graph(False)
        if not self.grid.select_image(image_id):
            self.subset_wanted.emit(Subset.ALL)
            if self.model.row_of(image_id) is None:
                self.show_subset(Subset.ALL)
            if self.model.row_of(image_id) is None:
                self.search_bar.close_search()
            self.grid.select_image(image_id)
        self.hold()
        self.grid.setFocus()

    def show_graph(self, is_wanted: bool) -> None:
        self._page.end()
        self.leave_image()
        self.is_graph_shown = is_wanted
        self.header.show_view(is_graph=is_wanted)
        self._show_title()
        (self.graph if is_wanted else self.grid).setFocus()

    def look_at_graph(self) -> GraphView:
        if not self.is_graph_shown:
            self.show_graph(True)
        return self.graph

    def zoom(self, steps: int) -> None:
        """Zoom the graph or the thumbnails."""
        if self.is_graph_shown:
            self.graph.zoom(steps)
        else:
            self.grid.zoom(steps)

    def show_missing(self, image_ids: frozenset[int]) -> None:
        self.model.set_missing(image_ids)
        self.grid.viewport().update()

    def ids_in_view(self) -> tuple[int, ...]:
        """Visible images: the open one, and the cards in the viewport."""
        if not self.isVisible():
            return ()
        rows = self.grid.places_in_view()
        ids = tuple(self.model.shown.at(slice(rows.start, rows.stop)).tolist())
        return (
            ids
            if self.grid.current_id is None or not self.is_image_open
            else (self.grid.current_id, *ids)
        )

    def take_keyboard(self) -> None:
        """Focus the images."""
        (self.image_view if self.is_image_open else self.grid).setFocus()

    def hold(self) -> None:
        """Hold the order of the cards while the user works on them."""
        self.model.is_held = True

    def show_at_once(self) -> None:
        """Repaint before the next key is handled, so that keys refer to what is visible."""
        front = self.content.currentWidget()
        (self.grid.viewport() if front is None or front is self.grid else front).repaint()

    def _refilter(self) -> None:
        self.leave_image()
        self.model.set_filter(self._shown.filter())
        self.grid.verticalScrollBar().setValue(0)
        self._show_title()

    def _on_chip_chosen(self, subset: Subset) -> None:
        """Filter the selected class by a chip; without a class, select the subset in the list."""
        if self.class_id is None and self._shown.images is None:
            self.subset_wanted.emit(subset)
        else:
            self.show_subset_of_class(subset)

    def _on_state_changed(self, _state: CollectionState | None) -> None:
        if self._page.rests_grid:
            self._is_behind = True
            return
        self._is_behind = False
        if self._shown.has_lost_class:
            self._shown.choose(Subset.ALL)
            self.subset_wanted.emit(Subset.ALL)
        self._show_cards()
        self._show_title()
        self.header.show_changed(self._changed_predictions())
        self._look_ahead()

    def _on_active_images_changed(self) -> None:
        if self._page.rests_grid:
            self._is_behind = True
        else:
            self._show_cards()

    def _on_page_ended(self) -> None:
        if self._is_behind:
            self._on_state_changed(self._session.state)

    def _show_cards(self) -> None:
        self.model.set_state(self._session.current_card.state, self._shown.filter())

    def _changed_predictions(self) -> int:
        """Number of cards that sorting again would move or remove."""
        is_by_prediction = self.model.order is not Order.ADDED or self.class_id is not None
        return self.model.changed_predictions() if self.model.is_held and is_by_prediction else 0

    def _look_ahead(self) -> None:
        """Prefetch the guesses of the current card and the next ones."""
        row = self.grid.currentIndex().row()
        if row >= 0:
            self._session.guesses.want(self.model.shown.at(slice(row, row + AHEAD)).tolist())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Hold the order as soon as the user clicks, scrolls or types in the grid."""
        if event.type() in _WORK:
            self.hold()
        return super().eventFilter(watched, event)

    def _on_graph_changed(self, edits: tuple[GraphEdit, ...]) -> None:
        if any(isinstance(edit, ClassAdded) for edit in edits):
            self.hold()  # a new class must not move the cards
        self._show_title()

    def _on_session_closed(self) -> None:
        for notice in (self.notice, self.missing_notice, self.replaced_notice, self.offer_notice):
            notice.hide()
        self._leave_visits()
        self.search_bar.close_search()
        self._on_state_changed(None)

    def _show_title(self) -> None:
        shown, page = self._shown, self._page.page
        self._search.show(is_wanted=page is None and not self.is_graph_shown, count=shown.count())
        if page is not None:
            self.header.show_page(self._page.title)
            self.content.setCurrentWidget(page)
            return
        images = shown.images
        self.header.show_title(
            shown.title,
            shown.count(),
            to_review=shown.to_review,
            can_go_back=images is not None,
            cards=self.folds.cards,
        )
        self.header.show_own_order(
            "" if images is None else images.order_name,
            is_chosen=images is not None and images.is_ordered,
        )
        self.header.show_subset(shown.subset, has_class=shown.has_class, is_set=images is not None)
        if self.is_graph_shown:
            self.content.setCurrentWidget(self.graph)
        elif self.is_image_open and (self.active_images.is_page or self.model.rowCount()):
            self._follow_current()
        elif self.model.rowCount():
            self.content.setCurrentWidget(self.grid)
        else:
            self.empty.show_emptiness(
                emptiness_of(self._session, self.model.filter, shown.class_name)
            )
            self.content.setCurrentWidget(self.empty)

    def _key_of(self, class_id: int) -> int:
        return self._session.graph.key_of(class_id) if class_id in self._session.graph else 0

    def _name_of(self, class_id: int) -> str:
        return self._shown.name_of(class_id)

    # -- large image

    @property
    def is_image_open(self) -> bool:
        return self._one_image.is_open

    @property
    def open_image_id(self) -> int | None:
        """The large image, if one is open."""
        return self._one_image.image_id if self.is_image_open else None

    def open_image(self, image_id: int) -> None:
        self._page.end()
        self.hold()
        self._one_image.open(image_id)

    def leave_image(self) -> None:
        was_open = self.is_image_open
        self._one_image.leave()
        if was_open and not self.model.rowCount():
            self._show_title()

    def _follow_current(self) -> None:
        """Show the current card as the large image, unless a page has the images in hand."""
        if not self.active_images.is_page:
            self._one_image.follow()

    def _on_current_image_changed(self, image_id: int) -> None:
        if not self.active_images.is_page:
            self._session.current_card.look_at(image_id if image_id >= 0 else None)
        self._look_ahead()
        if self.is_image_open and not self.active_images.is_page:
            self._one_image.follow() if self.model.rowCount() else self._show_title()

    def step(self, step: int) -> None:
        """Go `step` cards forward."""
        row = self.grid.currentIndex().row() + step
        if step > 0 and self.is_image_open and self._one_image.image_id != self.grid.current_id:
            row -= 1  # the open image is no longer in the grid, and the next one has its row
        if 0 <= row < self.model.rowCount():
            self.hold()
            self.grid.select_row(row)

    def choose_order(self, order: Order) -> None:
        """Set the order of the project's images."""
        if self._shown.choose_own_order(is_wanted=False):
            self.model.set_filter(self._shown.filter())
        self._order.choose(order)
        self.header.show_changed(0)
        self.grid.setFocus()  # keys act on images again

    def choose_own_order(self) -> None:
        """Restore the set's own order."""
        if self._shown.choose_own_order(is_wanted=True):
            self._refilter()
        self.grid.setFocus()

    def _set_order(self, order: Order, *, is_chosen: bool) -> None:
        self._session.rank_images_to_label(is_wanted=order is Order.TEACH_FIRST)
        self._session.sort_by(frozenset() if order.sorting is None else frozenset({order.sorting}))
        self.model.set_order(order, is_awaited=is_chosen)
        self.header.show_order(order)

    def sort_again(self) -> None:
        self.model.refresh()
        self._show_title()
        self.header.show_changed(0)
        self.grid.setFocus()

    def _on_selection_dismissed(self) -> None:
        if self.grid.current_id is not None:
            self.grid.select_image(self.grid.current_id)
        self.grid.setFocus()

    def _on_zoom_changed(self, side: int) -> None:
        self._settings.zoom = side
        self.header.show_zoom(side)
