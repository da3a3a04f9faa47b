"""What the GUI thread may read of the open project: its graph, copied edit by edit, and its newest snapshot."""

from typing import TYPE_CHECKING, final

if TYPE_CHECKING:  # these load numpy and more; the window shows first
    from app.session.news import News
    from engine.collection.state import CollectionState
    from engine.graph.category_graph import CategoryGraph


@final
class Mirror:
    """The collection as the last news left it.

    Attributes:
        state: without labels that are still on their way to the disk; None while no project is open.
    """

    def __init__(self) -> None:
        self.state: CollectionState | None = None
        self._graph: CategoryGraph | None = None

    @property
    def graph(self) -> "CategoryGraph":
        """The graph; empty while no project is open."""
        if self._graph is None:
            from engine.graph.category_graph import CategoryGraph

            self._graph = CategoryGraph()
        return self._graph

    def take(self, news: "News") -> None:
        self.state = news.state
        if news.new_graph is not None:
            self._graph = news.new_graph
        elif news.graph_edits:
            self.graph.apply(news.graph_edits)

    def clear(self) -> None:
        """No project is open any more."""
        self.state, self._graph = None, None
