"""What the project thread tells the window: plain values, made there, read here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.graph.edits import GraphEdit

if TYPE_CHECKING:  # these load numpy and more; the window shows first
    from engine.collection.live import LiveCollection
    from engine.collection.state import CollectionState
    from engine.graph.category_graph import CategoryGraph
    from engine.project import Change

EDITS_REPLAYED_AT_MOST: Final = 2_000
"""More edits than this reach the window as a new graph, copied on the project thread: replaying would freeze it."""


@dataclass(frozen=True)
class ProjectInfo:
    """What the title bar says about the open project."""

    path: Path
    name: str
    is_writable: bool
    project_id: str


@dataclass(frozen=True)
class News:
    """What one piece of work changed.

    Attributes:
        state: the collection after it.
        undo_text, redo_text: the commands that undo and redo would be; "" when there is none.
        change: the action's change; None when the news is not of an action.
        graph_edits: to replay on the mirror, unless there is a new graph.
        new_graph: replaces the mirror.
        is_behind: labels, or other things that the model learns from, are newer than the predictions.
    """

    state: CollectionState
    undo_text: str
    redo_text: str
    change: Change | None = None
    graph_edits: tuple[GraphEdit, ...] = ()
    new_graph: CategoryGraph | None = None
    is_behind: bool = False


def _news(
    live: LiveCollection,
    change: Change | None = None,
    graph_edits: tuple[GraphEdit, ...] = (),
    new_graph: CategoryGraph | None = None,
) -> News:
    undo, redo = live.project.history.undo_action, live.project.history.redo_action
    undo_text, redo_text = undo.command if undo else "", redo.command if redo else ""
    return News(live.state, undo_text, redo_text, change, graph_edits, new_graph, live.is_behind)


def news_of_state(live: LiveCollection, _result: object = None) -> News:
    """The collection looks new, the graph is as it was."""
    return _news(live)


def news_of_everything(live: LiveCollection) -> News:
    """A project was opened, or nobody can tell what changed."""
    live.project.classes.graph.make_searchable()  # else the first letter typed would wait for it
    return _news(live, new_graph=live.project.classes.graph.copy())


def news_of_kept(live: LiveCollection, change: Change) -> News:
    """What was tried out is in the project now; the window has followed every edit already."""
    return _news(live, change)


def news_of_change(live: LiveCollection, change: Change | None) -> News | None:
    """An action, undo or redo was done: bring the collection up to date with it, all but the predictions."""
    if change is None:
        return None
    live.take(change)
    edits = change.graph_edits
    return _news(
        live, change, edits, live.project.classes.graph.copy() if len(edits) > EDITS_REPLAYED_AT_MOST else None
    )
