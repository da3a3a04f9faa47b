"""The rows of the menu "View": what is in front, and how it is looked at."""

from typing import Final

from app.actions.row import VIEW, ActionRow, Needs
from app.texts import QT_TRANSLATE_NOOP

VIEW_ACTIONS: Final[tuple[ActionRow, ...]] = (
    ActionRow(
        "open_image",
        QT_TRANSLATE_NOOP("actions", "Open the image"),
        "open_image",
        ("Space",),
        VIEW,
        Needs.PROJECT | Needs.IMAGES,
        on_images=True,
    ),
    ActionRow(
        "show_in_folder",
        QT_TRANSLATE_NOOP("actions", "Show in folder"),
        "folder",
        (),
        VIEW,
        Needs.PROJECT | Needs.IMAGES,
        on_images=True,
    ),
    ActionRow("go_to_classes", QT_TRANSLATE_NOOP("actions", "Go to the classes"), "class", ("Alt+5",), VIEW),
    ActionRow("show_all", QT_TRANSLATE_NOOP("actions", "Show all images"), "show_all", ("Alt+1",), VIEW),
    ActionRow(
        "show_to_review", QT_TRANSLATE_NOOP("actions", "Show images to review"), "show_to_review", ("Alt+2",), VIEW
    ),
    ActionRow("show_labelled", QT_TRANSLATE_NOOP("actions", "Show labelled images"), "show_labelled", ("Alt+3",), VIEW),
    ActionRow("show_unknown", QT_TRANSLATE_NOOP("actions", "Show unknown images"), "show_unknown", ("Alt+4",), VIEW),
    ActionRow(
        "order_teach_first",
        QT_TRANSLATE_NOOP("actions", "Sort: Teach first"),
        "sort",
        (),
        VIEW,
        Needs.PROJECT,
        starts_section=True,
    ),
    ActionRow(
        "order_unsure_first", QT_TRANSLATE_NOOP("actions", "Sort: Least certain first"), "sort", (), VIEW, Needs.PROJECT
    ),
    ActionRow(
        "order_surest_first", QT_TRANSLATE_NOOP("actions", "Sort: Most certain first"), "sort", (), VIEW, Needs.PROJECT
    ),
    ActionRow("order_class", QT_TRANSLATE_NOOP("actions", "Sort: By class"), "sort", (), VIEW, Needs.PROJECT),
    ActionRow("order_added", QT_TRANSLATE_NOOP("actions", "Sort: In the order added"), "sort", (), VIEW, Needs.PROJECT),
    ActionRow("sort_again", QT_TRANSLATE_NOOP("actions", "Sort again"), "refresh", (), VIEW, Needs.PROJECT),
    ActionRow(
        "right_panel",
        QT_TRANSLATE_NOOP("actions", "Show or hide the right panel"),
        "right_panel",
        ("Alt+6",),
        VIEW,
        starts_section=True,
    ),
    ActionRow(
        "show_graph",
        QT_TRANSLATE_NOOP("actions", "Class graph or images"),
        "graph",
        ("Ctrl+G",),
        VIEW,
    ),
    ActionRow("fit_graph", QT_TRANSLATE_NOOP("actions", "See the whole class graph"), "fit", ("Ctrl+0",), VIEW),
    ActionRow("find_in_graph", QT_TRANSLATE_NOOP("actions", "Find a class in the graph"), "search", ("Ctrl+F",), VIEW),
    ActionRow(
        "focus_class",
        QT_TRANSLATE_NOOP("actions", "Show what is around the class"),
        "target",
        ("Ctrl+Shift+F",),
        VIEW,
        Needs.PROJECT | Needs.CLASS,
    ),
    ActionRow(
        "zoom_in",
        QT_TRANSLATE_NOOP("actions", "Larger thumbnails"),
        "zoom_in",
        ("Ctrl++", "Ctrl+="),
        VIEW,
    ),
    ActionRow("zoom_out", QT_TRANSLATE_NOOP("actions", "Smaller thumbnails"), "zoom_out", ("Ctrl+-",), VIEW),
    ActionRow(
        "show_changed_images",
        QT_TRANSLATE_NOOP("actions", "Show images that changed class"),
        "changed",
        ("Ctrl+Shift+J",),
        VIEW,
        starts_section=True,
    ),
    ActionRow("show_failures", QT_TRANSLATE_NOOP("actions", "Files that could not be read"), "failure", (), VIEW),
)
