"""State of the drawing for the session's project: expanded branches, focus, and card contents."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

from PySide6.QtCore import QObject, Signal

from app.drops import classes_text
from app.graph_view.card import CardLook
from app.graph_view.drawing import LaidOut, LayoutRequest, Layouts
from app.session import Session
from app.texts import fill, plural, tr
from app.wording import SEPARATOR, clauses, enumeration, images, percent
from engine.collection.answers import GraphFacts, graph_facts
from engine.collection.live import LiveCollection
from engine.file_parts import ImageSource
from engine.graph.category_graph import CategoryGraph
from engine.project import ClassPolicy

_TOPIC = "graph facts"


@dataclass(frozen=True)
class ParentShare:
    """The contribution of a parent to a class's prototype."""

    name: str
    share: float  # of what all parents contribute, in [0, 1]
    faces: tuple[ImageSource, ...]  # images of the parent


@final
class GraphModel(QObject):
    """Follows the session while the drawing is visible."""

    laid_out = Signal(LaidOut)
    looks_changed = Signal()

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self.layouts = Layouts(self)
        self.layouts.done.connect(self._on_laid_out)
        self.layouts.failed.connect(session.failed)
        self._looks: dict[int, CardLook] = {}
        self._users: dict[ImageSource, set[int]] = {}
        self._hidden: dict[int, int] = {}
        self._with_children: frozenset[int] = frozenset()
        self._facts = GraphFacts()
        self._is_watched = False
        self._is_graph_old = self._are_looks_old = True
        self.opened: frozenset[int] | None = None
        self.focus: int | None = None  # class whose neighbourhood is drawn
        self.room: Callable[[], tuple[float, float]] | None = (
            None  # size of the viewport in drawing units
        )
        session.graph_changed.connect(self._on_graph_changed)
        session.state_changed.connect(self._on_state_changed)
        session.marks.changed.connect(self._forget_looks)
        session.closed.connect(self._on_closed)

    def watch(self, *, is_watched: bool) -> None:
        self._is_watched = is_watched
        if is_watched and self._is_graph_old:
            self.lay_out()
        if is_watched and self._are_looks_old:
            self._renew_looks()

    def lay_out(self, *, shown: int | None = None, anchor: int | None = None) -> None:
        self._is_graph_old = False
        graph = self._session.graph
        if self.focus is not None and self.focus not in graph:
            self.focus = None
        room = None if self.room is None else self.room()
        self.layouts.want(LayoutRequest(graph.copy(), self.opened, self.focus, shown, anchor, room))

    def toggle(self, class_id: int) -> None:
        if class_id not in self._session.graph or not self._session.graph.children(class_id):
            return
        opened = self.opened or frozenset()
        self.opened = opened | {class_id} if self._hidden.get(class_id) else opened - {class_id}
        self.lay_out(anchor=class_id)

    def set_focus(self, class_id: int | None) -> None:
        anchor = self.focus if class_id is None else class_id
        self.focus = class_id
        self.lay_out(shown=anchor, anchor=anchor)

    def _on_laid_out(self, answer: LaidOut) -> None:
        self.opened, drawing = answer.opened, answer.drawing
        self._hidden = dict(zip(drawing.ids.tolist(), drawing.hidden.tolist(), strict=True))
        self._with_children = frozenset(drawing.ids[drawing.parents].tolist())
        self._looks.clear()
        self._users.clear()
        self.laid_out.emit(answer)

    def look(self, class_id: int) -> CardLook:
        found = self._looks.get(class_id)
        if found is None:
            found = self._looks[class_id] = self._make_look(class_id)
            for source in found.faces:
                self._users.setdefault(source, set()).add(class_id)
        return found

    def classes_with(self, source: ImageSource) -> set[int]:
        return self._users.get(source, set())

    @property
    def graph(self) -> CategoryGraph:
        return self._session.graph

    @property
    def is_editable(self) -> bool:
        return self._session.is_writable

    def place_of(self, class_id: int) -> tuple[int, int | None]:
        """A class with its first parent, from which dragging moves it."""
        parents = self._session.graph.parents(class_id)
        return class_id, parents[0] if parents else None

    def weight(self, parent_id: int, child_id: int) -> float | None:
        """Attention weight of an edge; None if unknown."""
        return self._facts.weights.get((parent_id, child_id))

    def words(self, class_id: int) -> str:
        """Description of a class for screen readers."""
        graph = self._session.graph
        if class_id not in graph:
            return ""
        (image_count, shot_count), hidden = self._counts(class_id), self._hidden.get(class_id, 0)
        parents = enumeration(graph.shown_name(parent) for parent in graph.parents(class_id))
        place = tr("under {1}", parents) if parents else tr("at the top level")
        below = [tr("collapsed, {1} below", classes_text(hidden))] if hidden else []
        return clauses(
            graph.shown_name(class_id), place, images(image_count), _shots(shot_count), *below
        )

    def tip(self, class_id: int) -> str:
        look = self.look(class_id)
        lines = [look.name, look.counts + look.more]
        if look.decided is not None:
            lines.append(
                tr("{1} labelled, or sure of one of the finest classes", percent(look.decided))
            )
        return "\n".join(lines)

    def edge_words(self, child_id: int) -> str:
        graph = self._session.graph
        if child_id not in graph:
            return ""
        own = self._facts.own_shares.get(child_id)
        return _edge_text(graph.shown_name(child_id), self.parent_shares(child_id), own)

    def parent_shares(self, child_id: int) -> tuple[ParentShare, ...]:
        """The contributions of a class's parents, largest first."""
        graph = self._session.graph
        weights = {
            parent: self.weight(parent, child_id) or 0.0 for parent in graph.parents(child_id)
        }
        total = sum(weights.values())
        shares = [
            ParentShare(
                graph.shown_name(parent), weight / total if total else 0.0, self.look(parent).faces
            )
            for parent, weight in weights.items()
        ]
        return tuple(sorted(shares, key=lambda share: -share.share))

    def _make_look(self, class_id: int) -> CardLook:
        graph, state = self._session.graph, self._session.state
        if class_id not in graph:
            return CardLook("", "", class_id)
        hidden = self._hidden.get(class_id, 0)
        faces = self._facts.faces.get(class_id, ())
        found = [] if state is None else [state.visible_source_of(face) for face in faces]
        sources = [source for source in found if source is not None]
        marks = self._session.marks
        policy = marks.policies.get(class_id, ClassPolicy())
        counts, more = _card_counts(hidden, *self._counts(class_id))
        return CardLook(
            graph.shown_name(class_id),
            counts,
            class_id,
            more,
            tuple(sources),
            hidden,
            is_open=class_id in self._with_children,
            has_shots=bool(faces),
            has_more_parents=len(graph.parents(class_id)) > 1,
            decided=self._facts.decided.get(class_id),
            colour=marks.colours.get(class_id, ""),
            bar=policy.bar,
            is_deepest=policy.is_deepest,
        )

    def _counts(self, class_id: int) -> tuple[int, int]:
        """Number of images at or below a class, and of its own shots."""
        state = self._session.state
        if state is None:
            return 0, 0
        return state.image_counts.get(class_id, 0), state.shot_counts.get(class_id, 0)

    def _on_graph_changed(self, _edits: object) -> None:
        self._is_graph_old = True
        if self._is_watched:
            self.lay_out()

    def _on_state_changed(self, _state: object) -> None:
        self._are_looks_old = True
        if self._is_watched:
            self._renew_looks()

    def _renew_looks(self) -> None:
        """Update counts and names at once, and the rest when the project thread has answered."""
        self._are_looks_old = False
        self._forget_looks()
        self._session.ask(facts_of, self._on_facts, owner=self, topic=_TOPIC)

    def _on_facts(self, facts: GraphFacts) -> None:
        if facts != self._facts:
            self._facts = facts
            self._forget_looks()

    def _on_closed(self) -> None:
        self.opened = self.focus = None
        self._facts = GraphFacts()
        self.layouts.forget()
        self._is_graph_old = self._are_looks_old = True

    def _forget_looks(self) -> None:
        self._looks.clear()
        self._users.clear()
        self.looks_changed.emit()


def facts_of(live: LiveCollection) -> GraphFacts:
    return graph_facts(live.fitted, live.project.classes.graph, live.state)


def _card_counts(hidden: int, image_count: int, shot_count: int) -> tuple[str, str]:
    """`1,203 classes` folded into a class or `340 images`, and ` · 5 examples` for wide cards."""
    if hidden:
        return classes_text(hidden), f" · {images(image_count)}" if image_count else ""
    words = images(image_count) if image_count else tr("No images yet")
    return words, f" · {_shots(shot_count)}" if shot_count else ""


def _shots(count: int) -> str:
    return plural(count, "1 example", "{n} examples")


def _edge_text(child: str, shares: Sequence[ParentShare], own: float | None) -> str:
    """`Organ inherits 62% from Keyboard Instrument, 38% from Wind Instrument`.

    If known, the weight of its own examples follows.
    """
    part = tr("{1} from {2}")
    if not any(each.share for each in shares):
        return tr("{1} inherits nothing yet: its parents have no examples.", child)
    parts = enumeration(fill(part, percent(each.share), each.name) for each in shares)
    words = tr("{1} inherits {2}", child, parts)
    return words if own is None else words + SEPARATOR + tr("own examples weigh {1}", percent(own))
