"""The map feature: opens the page, requests the map, and labels images on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import QTimer

from app.actions.row import Section, action
from app.feature import Feature
from app.map.keys import KEYS
from app.map.wording import entry_text, placed_line, set_title
from app.palette.logic import class_rows
from app.session.subsets import ImageSet
from app.texts import marked, tr
from app.wording import probability_text
from app.workspace.selection_bar import acceptable, errors_text
from engine.collection.state import EMPTY, NO_CLASS, UNKNOWN, ImageStatus
from engine.file_parts import ImageSource

if TYPE_CHECKING:
    from app.map.colours import MapColours
    from app.map.loader import MapLoader
    from app.map.scene import MapScene
    from app.map.view import MapPage
    from app.palette.logic import PaletteRow
    from app.shell import Shell
    from engine.map.image_map import ImageMap

FINISHED_MS = 1_500  # time without new embeddings before new images are placed
FEWEST_LATER = 20  # images placed later from which an update of the map is offered


@final
class Maps(Feature):
    """The map of the collection (Ctrl+M)."""

    guide_page = "map"
    page_keys = (KEYS,)

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self.page: MapPage | None = None
        self._loader: MapLoader | None = None
        self._colours: MapColours | None = None
        self._ready = 0  # embedded images at the last lookup of the map
        self._is_dismissed = False
        self._settled = QTimer(self, singleShot=True, interval=FINISHED_MS)
        self._settled.timeout.connect(self._look_for_new)
        self._session.closed.connect(self._on_closed)
        self._session.state_changed.connect(lambda _state: self._on_state_changed())

    @action("show_map", marked("Map"), "map", "Ctrl+M", Section.VIEW_PAGES)
    def show(self) -> None:
        """Show the map page, and compute a missing map."""
        page = self._made_page()
        self._shell.workspace.show_page(page, tr("Map"))
        if self.loader.slot.is_busy:
            return
        self._look()

    def stop(self) -> None:
        if self.page is not None:
            self.page.canvas.stop()
            self.loader.work_thread.stop()

    @property
    def loader(self) -> MapLoader:
        assert self._loader is not None, "the page is made"
        return self._loader

    @property
    def colours(self) -> MapColours:
        assert self._colours is not None, "the page is made"
        return self._colours

    def _made_page(self) -> MapPage:
        if self.page is None:
            from app.map.colours import MapColours
            from app.map.loader import MapLoader
            from app.map.view import MapPage

            self.page = page = MapPage(self._thumbnails, self._source_of, self._class_text_of)
            self._loader = loader = MapLoader(self._session, page, self)
            self._colours = MapColours(self._session, loader.work_thread, self)
            self._colours.made.connect(self._show_scene)
            loader.found.connect(self._on_found)
            self.link_guide_page(page)
            page.bar.colouring_chosen.connect(self._on_colouring_chosen)
            page.bar.again_wanted.connect(loader.make_again)
            page.canvas.selected.connect(self._show_chosen)
            page.label_wanted.connect(self._label)
            page.accept_wanted.connect(self._accept)
            page.grid_wanted.connect(self._show_in_grid)
            page.image_clicked.connect(self._on_image_clicked)
            page.image_opened.connect(self._shell.workspace.open_image)
        return self.page

    # -- loading

    def _look(self) -> None:
        self._ready = self._ready_count()
        self.loader.look()

    def _ready_count(self) -> int:
        state = self._session.state
        return 0 if state is None else int((state.status == ImageStatus.READY).sum())

    def _on_state_changed(self) -> None:
        page = self.page
        if page is not None and page.isVisible():
            self._show_chosen()
            if self._ready_count() != self._ready:
                self._settled.start()

    def _look_for_new(self) -> None:
        """Place new images after a run of embeddings has ended."""
        if self.page is None or not self.page.isVisible() or self.loader.slot.is_busy:
            return
        if self._shell.embedding.job is not None:
            self._settled.start()
        else:
            self._look()

    def _on_found(self, made: ImageMap, left: int) -> None:
        assert self.page is not None
        if self.colours.map is None or made is not self.colours.map:
            self.colours.show_map(made)
        later = made.later_count
        if left == 0 and later >= FEWEST_LATER and (made.is_stale or not self._is_dismissed):
            self._is_dismissed = True  # shown once, and again when much of the map is stale
            self.page.notice.ask(placed_line(later), ((tr("Update"), self.loader.make_again),))
        elif not later:
            self.page.notice.hide()

    def _show_scene(self, scene: MapScene) -> None:
        assert self.page is not None
        depth = self.colours.depth
        self.page.bar.show_levels(depth, first=0 if depth > 1 else None)
        if self._wanted_level() != self._coloured_level:
            self._on_colouring_chosen()
            return
        self.page.canvas.show_scene(scene)
        if scene.colouring is not None:
            names = scene.names
            rows = [
                (entry.colour, entry_text(entry, lambda each: names.get(each, "")), entry.count)
                for entry in scene.colouring.legend
            ]
            self.page.show_legend(rows)
        self.page.show_map()
        self._show_chosen()

    _coloured_level: int | None = 0

    def _wanted_level(self) -> int | None:
        assert self.page is not None
        return self.page.bar.chosen_level

    def _on_colouring_chosen(self) -> None:
        assert self.page is not None
        self._coloured_level = self._wanted_level()
        self.colours.colour_by(self.page.bar.colours_by, self._coloured_level)

    def _on_closed(self) -> None:
        self._settled.stop()
        if self.page is not None:
            self.loader.slot.abandon()
            self.colours.forget()
            self.page.clear()
            self.page.canvas.show_scene(self.colours.scene)
            self.page.notice.hide()
            self._is_dismissed = False

    # -- images

    def _source_of(self, image_id: int) -> ImageSource | None:
        state = self._session.state
        return None if state is None else state.visible_source_of(image_id)

    def _class_text_of(self, image_id: int) -> str:
        """`Gull 87%`, like the image's card."""
        state, graph = self._session.state, self._session.graph
        if state is None:
            return ""
        place = state.position(image_id)
        label, best = int(state.label_class[place]), int(state.best_class[place])
        if label in graph:
            return tr("{1}, labelled", graph.shown_name(label))
        if label == EMPTY:
            return tr("Empty")
        if label == UNKNOWN or state.is_unknown[place]:
            return tr("Unknown")
        if best not in graph:
            return tr("No prediction")
        return tr(
            "{1} {2}", graph.shown_name(best), probability_text(float(state.best_score[place]))
        )

    def _chosen(self) -> list[int]:
        """Ids of the selected images that are in the project."""
        page, state = self.page, self._session.state
        if page is None or state is None or not page.canvas.chosen.any():
            return []
        ids = page.canvas.chosen_ids.tolist()
        return [each for each in ids if self._source_of(each) is not None]

    def _show_chosen(self) -> None:
        page, state = self.page, self._session.state
        if page is None or state is None:
            return
        ids = self._chosen()
        found = acceptable(state, ids, self._settings.accept_above / 100)
        page.chosen_bar.show_chosen(
            len(ids),
            acceptable=found.image_count,
            errors=errors_text(found.expected_errors),
            is_writable=self._session.is_writable,
        )

    def _on_image_clicked(self, image_id: int) -> None:
        if self._source_of(image_id) is not None:
            self._session.current_card.look_at(image_id)
            self._shell.inspector.show_image(image_id)

    def _show_in_grid(self) -> None:
        ids = self._chosen()
        if ids:
            import numpy as np

            self._shell.workspace.show_images(
                ImageSet(np.array(ids, dtype=np.int64), set_title(len(ids)))
            )

    def _label(self) -> None:
        ids = self._chosen()
        if ids and self._session.is_writable:
            self._palette.ask(
                tr("Label as: name, part of a name, or Parent/Name"),
                self._rows_for,
                lambda class_id: self._session.label(ids, class_id),
            )

    def _rows_for(self, text: str) -> list[PaletteRow]:
        return class_rows(self._session.graph, text, first=self._most_frequent())

    def _most_frequent(self) -> list[int]:
        """The most frequent classes of the selected images, listed first in the palette."""
        page, graph = self.page, self._session.graph
        if page is None or page.canvas.scene.colouring is None:
            return []
        import numpy as np

        classes = page.canvas.scene.colouring.classes[page.canvas.chosen]
        found, counts = np.unique(classes[classes != NO_CLASS], return_counts=True)
        return [each for each in found[np.argsort(-counts)][:5].tolist() if each in graph]

    def _accept(self) -> None:
        state, ids = self._session.state, self._chosen()
        if state is None or not ids or not self._session.is_writable:
            return
        groups = acceptable(state, ids, self._settings.accept_above / 100).groups
        if groups:
            self._session.label_groups(groups, is_bulk=True)
