"""Updates the colours and names of a map on a background thread when the project changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, final

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QApplication

from app.map.colouring import ColourBy, ColouringOptions, coloured
from app.map.labels import class_places
from app.map.points import MapPoints
from app.map.scene import MapScene, PlacedPrototypes
from app.theme import theme_of
from app.theme.tokens import tokens
from engine.map.prototypes import MapPrototypes, placed, prototypes_of

if TYPE_CHECKING:
    from app.jobs.background_thread import BackgroundThread
    from app.session import Session
    from engine.collection.live import LiveCollection
    from engine.collection.state import CollectionState
    from engine.graph.category_graph import CategoryGraph
    from engine.map.image_map import ImageMap
    from engine.project import Change

SOON_MS = 40  # debounce of changes
_EPOCH = date(1970, 1, 1).toordinal()  # ordinal of day 0


@final
class MapColours(QObject):
    """Makes scenes of a map; only the latest request is delivered."""

    made = Signal(MapScene)

    def __init__(self, session: Session, thread: BackgroundThread, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._thread = thread
        self.map: ImageMap | None = None
        self._hidden: frozenset[int] = frozenset()  # images of the map that the project hides
        self.scene = MapScene()
        self.graph: CategoryGraph | None = None  # a copy for the background thread
        self.depth = 0  # number of levels
        self._options = ColouringOptions(level=0)
        self._dates: dict[int, int] = {}
        self._number = 0
        self._soon = QTimer(self, singleShot=True, interval=SOON_MS)
        self._soon.timeout.connect(self._colour)
        session.state_changed.connect(lambda _state: self.refresh())
        session.graph_changed.connect(lambda _edits: self._forget_graph())
        session.fitting_changed.connect(
            lambda is_fitting: None if is_fitting else self._ask_prototypes()
        )
        session.marks.changed.connect(self.refresh)
        session.change_made.connect(self._on_change_made)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        theme_of(application).changed.connect(self.refresh)

    def show_map(self, made: ImageMap) -> None:
        """Set the map to colour."""
        self.map = made
        self._show_points()
        self.refresh()
        self._ask_prototypes()

    def forget(self) -> None:
        self.map, self.graph, self.scene = None, None, MapScene()
        self._dates = {}
        self._number += 1

    def colour_by(self, by: ColourBy, level: int | None) -> None:
        self._options = replace(self._options, by=by, level=level)
        if by is ColourBy.DATE:
            self._session.ask(days_of, self._take_dates, owner=self, topic="map dates")
        self.refresh()

    def _show_points(self) -> None:
        """Show the images of the map, except hidden ones."""
        assert self.map is not None
        state = self._session.state
        self._hidden = frozenset() if state is None else state.hidden
        self.scene = MapScene(points=MapPoints.of(self.map, self._hidden))

    def refresh(self) -> None:
        """Colour again, debounced."""
        if self.map is not None:
            self._soon.start()

    def _on_change_made(self, change: Change) -> None:
        from engine.project.camera_clocks import CLOCKS_SETTING

        if CLOCKS_SETTING in change.settings and self._options.by is ColourBy.DATE:
            self._session.ask(days_of, self._take_dates, owner=self, topic="map dates")

    def _take_dates(self, days: dict[int, int]) -> None:
        self._dates = days
        self.refresh()

    def _forget_graph(self) -> None:
        self.graph = None
        self.refresh()

    def _take_graph(self, graph: CategoryGraph) -> None:
        self.graph, self.depth = graph, len(graph.levels())
        self._colour()

    def _colour(self) -> None:
        state = self._session.state
        if self.map is None or state is None:
            return
        if state.hidden != self._hidden:
            prototypes = self.scene.prototypes
            self._show_points()
            self.scene = replace(self.scene, prototypes=prototypes)
        if self.graph is None:
            copied = lambda live: live.project.classes.graph.copy()  # noqa: E731 (a question)
            self._session.ask(copied, self._take_graph, owner=self, topic="map graph")
            return
        self._number += 1
        number, graph, options = self._number, self.graph, self._full_options()
        scene = self.scene

        def work() -> None:
            if number == self._number:
                made = _coloured_scene(scene, state, graph, options)
                self._thread.post(lambda: self._take(number, scene, made))

        self._thread.submit(work, lambda _message: None)

    def _full_options(self) -> ColouringOptions:
        stored = dict(self._session.marks.colours)
        return replace(
            self._options, scheme=tokens().scheme, stored_colours=stored, dates=self._dates
        )

    def _take(self, number: int, of: MapScene, made: MapScene) -> None:
        if number == self._number and of.points is self.scene.points:
            self.scene = replace(made, prototypes=self.scene.prototypes)
            self.made.emit(self.scene)

    # -- prototypes

    def _ask_prototypes(self) -> None:
        if self.map is not None:
            self._session.ask(
                prototypes_of, self._place_prototypes, owner=self, topic="map prototypes"
            )

    def _place_prototypes(self, found: MapPrototypes) -> None:
        made = self.map
        if made is None or not made.space.takes(found.vectors.shape[1]):
            return

        def work() -> None:
            edges = np.array(found.edges, dtype=np.int64).reshape(-1, 2)
            prototypes = PlacedPrototypes(found.class_ids, placed(made, found), edges)
            self._thread.post(lambda: self._take_prototypes(made, prototypes))

        self._thread.submit(work, lambda _message: None)

    def _take_prototypes(self, of: ImageMap, prototypes: PlacedPrototypes) -> None:
        if of is self.map:
            self.scene = replace(self.scene, prototypes=prototypes)
            if self.scene.order is not None:
                self.made.emit(self.scene)


def _coloured_scene(
    scene: MapScene, state: CollectionState, graph: CategoryGraph, options: ColouringOptions
) -> MapScene:
    colouring = coloured(scene.points.image_ids, state, graph, options)
    finest = (
        colouring.classes
        if options.level is None
        else coloured(
            scene.points.image_ids, state, graph, ColouringOptions(scheme=options.scheme)
        ).classes
    )
    places = class_places(colouring.classes, finest, scene.points.places, graph)
    named = {place.class_id for place in places} | {entry.class_id for entry in colouring.legend}
    names = {each: graph.shown_name(each) for each in named if each is not None and each in graph}
    is_by_class = options.by in (ColourBy.CLASS, ColourBy.LABEL)
    scene = replace(scene, stored_colours=options.stored_colours if is_by_class else None)
    return scene.coloured(colouring, places, names)


def days_of(live: LiveCollection) -> dict[int, int]:
    """Capture dates in days since 1970, by image id; runs on the project thread."""
    return {
        each.image_id: each.taken_at.toordinal() - _EPOCH
        for each in live.project.details.each()
        if each.taken_at is not None
    }
