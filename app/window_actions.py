"""What the actions do that belong to no feature: undo, the rows beside the classes, grid and graph, zoom."""

from collections.abc import Callable, Mapping
from functools import partial

from app.class_tree.view import ClassTree
from app.image_grid.logic import Order
from app.panes import Panes
from app.session import Session
from app.session.subsets import Subset
from app.workspace.view import Workspace


def window_actions(
    session: Session, tree: ClassTree, workspace: Workspace, panes: Panes
) -> Mapping[str, Callable[[], None]]:
    """Callbacks by name of the action."""
    grid = workspace.grid
    return {
        "undo": session.undo,
        "redo": session.redo,
        "open_image": lambda: grid.open_requested.emit(grid.current_id) if grid.current_id is not None else None,
        "show_all": lambda: tree.select_subset(Subset.ALL),
        "show_to_review": lambda: tree.select_subset(Subset.TO_REVIEW),
        "show_labelled": lambda: tree.select_subset(Subset.LABELLED),
        "show_unknown": lambda: tree.select_subset(Subset.UNKNOWN),
        **{f"order_{order.value}": partial(workspace.choose_order, order) for order in Order},
        "sort_again": workspace.sort_again,
        "zoom_in": lambda: workspace.zoom(1),
        "zoom_out": lambda: workspace.zoom(-1),
        "right_panel": panes.toggle_right,
        "show_graph": lambda: workspace.show_graph(not workspace.is_graph_shown),
        "fit_graph": lambda: workspace.look_at_graph().fit(),
        "find_in_graph": lambda: workspace.look_at_graph().take_keyboard(),
        "focus_class": lambda: workspace.look_at_graph().toggle_focus(),
    }
