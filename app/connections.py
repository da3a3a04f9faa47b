"""Which feature hears of which: they do not know one another, and the window brings them together here."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import QPoint

from app.backups.controller import Backups
from app.class_editing.controller import Classes
from app.class_tree.view import ClassTree
from app.graph_suggestions.controller import Suggesting
from app.inspector.view import Inspector
from app.panes import Panes
from app.preferences.name_strip import NameAsking, NameStrip
from app.review.controller import Labelling
from app.review.key_hint import KeyHint
from app.session import Session
from app.settings import Settings
from app.status.notice import Notice
from app.welcome.controller import Projects
from app.welcome.sample import SampleStart
from app.welcome.view import Welcome
from app.what_if.controller import WhatIf
from app.workspace.emptiness import choosing_backup
from app.workspace.view import Workspace

HINT_MARGIN: Final = 16  # beside what is taught or asked below the images


def connect_damaged(
    session: Session,
    backups: Backups,
    workspace: Workspace,
    show_working: Callable[[], None],
    show_welcome: Callable[[], None],
) -> None:
    """Backups of a damaged project are chosen beside an empty workspace, where no other project is open."""

    def follow(is_shown: bool) -> None:
        if session.info is None and is_shown:
            workspace.empty.show_emptiness(choosing_backup())
            show_working()
        elif session.info is None and not backups.restoring.is_running:
            show_welcome()

    backups.damaged_shown.connect(follow)


def connect_inspector(
    inspector: Inspector, workspace: Workspace, tree: ClassTree, labelling: Labelling, classes: Classes
) -> None:
    """What is clicked in the inspector happens elsewhere."""
    inspector.image_requested.connect(workspace.show_image)
    inspector.class_requested.connect(tree.select_class)
    inspector.label_requested.connect(lambda image_id, class_id: labelling.label((image_id,), class_id))
    inspector.labels_requested.connect(labelling.label_in_place)
    inspector.unlabel_requested.connect(lambda image_id: labelling.unlabel((image_id,)))
    inspector.bar_requested.connect(classes.set_bar)
    inspector.deepest_requested.connect(classes.set_deepest)
    inspector.parent_requested.connect(classes.link_parent)
    inspector.parent_wanted.connect(classes.ask_parent)
    inspector.unlink_requested.connect(classes.unlink_parent)
    inspector.attributes_changed.connect(lambda class_id, values: classes.set_attributes([class_id], values))
    inspector.colour_chosen.connect(classes.set_colour_of_chosen)


def connect_first_page(
    welcome: Welcome,
    projects: Projects,
    workspace: Workspace,
    trigger: Callable[[str], None],
    open_project: Callable[[Path], None],
) -> None:
    """What the first page leads to, and files that are dropped there or on the images."""
    welcome.action_requested.connect(trigger)
    welcome.project_requested.connect(open_project)
    projects.recent_menu.project_requested.connect(open_project)
    projects.sample.ready.connect(open_project)
    welcome.files_dropped.connect(projects.take_dropped)
    workspace.files_dropped.connect(projects.take_dropped)


def connect_shown(workspace: Workspace, tree: ClassTree, panes: Panes, sample: SampleStart) -> None:
    """What is to be shown is chosen beside the images, which follow; a pane without room is fetched from there."""
    panes.hiding_changed.connect(workspace.header.show_panel_button)
    workspace.header.panel_button.clicked.connect(panes.toggle_right)
    workspace.subset_wanted.connect(tree.select_subset)
    sample.face_wanted.connect(tree.select_class)


def connect_hints(session: Session, settings: Settings, workspace: Workspace) -> None:
    """What is taught or asked once stands below the images: no card moves for it."""
    keys, name = Notice(tone=""), NameStrip()
    workspace.foot.setContentsMargins(HINT_MARGIN, 0, HINT_MARGIN, 0)
    for strip in (keys, name):
        workspace.foot.addWidget(strip)
    KeyHint(session, settings, keys, workspace.grid.setFocus)
    NameAsking(session, settings, name)
    name.left.connect(workspace.grid.setFocus)


def connect_what_if(
    what_if: WhatIf, workspace: Workspace, update_available: Callable[[], None], close_question: Callable[[], object]
) -> None:
    """The header tells what an edit changed, the grid shows the images; no question outlives what it is about."""
    what_if.discarded.connect(close_question)
    what_if.needs_changed.connect(update_available)
    what_if.changes_shown.connect(workspace.header.show_moves)
    what_if.image_requested.connect(workspace.show_image)
    workspace.header.badge.clicked.connect(what_if.open_panel)


def connect_suggesting(suggesting: Suggesting, workspace: Workspace, tree: ClassTree) -> None:
    """Images behind a suggestion, and classes that need shots, are shown where all others are."""
    suggesting.image_requested.connect(workspace.show_image)
    suggesting.class_requested.connect(tree.select_class)


def connect_graph(
    workspace: Workspace,
    tree: ClassTree,
    classes: Classes,
    open_menu: Callable[[int | None, QPoint], None],
) -> None:
    """Tree and drawing choose the same class, and what is wanted in the drawing is done as in the tree."""
    graph = workspace.graph
    classes.is_grid_in_front = lambda: not workspace.is_graph_shown
    tree.class_selected.connect(graph.select_class)
    tree.subset_selected.connect(lambda _subset: graph.select_class(None))
    graph.classes_selected.connect(tree.select_classes)
    graph.create_requested.connect(classes.ask_new)
    graph.remove_requested.connect(classes.remove)
    graph.unlink_requested.connect(classes.unlink)
    graph.classes_dropped.connect(classes.place)
    graph.images_dropped.connect(tree.images_dropped)
    graph.files_dropped.connect(tree.files_dropped)
    graph.menu_requested.connect(open_menu)
