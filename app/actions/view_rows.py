"""The rows of the menu "View": what is in front, and how it is looked at."""

from typing import Final

from app.actions.row import VIEW, ActionRow, Needs
from app.texts import marked

VIEW_ACTIONS: Final[tuple[ActionRow, ...]] = (
    ActionRow(
        "open_image",
        marked("Open the image"),
        "open_image",
        ("Space",),
        VIEW,
        Needs.PROJECT | Needs.IMAGES,
        on_images=True,
    ),
    ActionRow(
        "show_in_folder",
        marked("Show in folder"),
        "folder",
        (),
        VIEW,
        Needs.PROJECT | Needs.IMAGES,
        on_images=True,
    ),
    ActionRow("go_to_classes", marked("Go to the classes"), "class", ("Alt+5",), VIEW),
    ActionRow("show_all", marked("Show all images"), "show_all", ("Alt+1",), VIEW),
    ActionRow("show_to_review", marked("Show images to review"), "show_to_review", ("Alt+2",), VIEW),
    ActionRow("show_labelled", marked("Show labelled images"), "show_labelled", ("Alt+3",), VIEW),
    ActionRow("show_unknown", marked("Show unknown images"), "show_unknown", ("Alt+4",), VIEW),
    ActionRow(
        "order_teach_first",
        marked("Sort: Teach first"),
        "sort",
        (),
        VIEW,
        Needs.PROJECT,
        starts_section=True,
    ),
    ActionRow("order_unsure_first", marked("Sort: Least certain first"), "sort", (), VIEW, Needs.PROJECT),
    ActionRow("order_surest_first", marked("Sort: Most certain first"), "sort", (), VIEW, Needs.PROJECT),
    ActionRow("order_class", marked("Sort: By class"), "sort", (), VIEW, Needs.PROJECT),
    ActionRow("order_added", marked("Sort: In the order added"), "sort", (), VIEW, Needs.PROJECT),
    ActionRow("sort_again", marked("Sort again"), "refresh", (), VIEW, Needs.PROJECT),
    ActionRow(
        "right_panel",
        marked("Show or hide the right panel"),
        "right_panel",
        ("Alt+6",),
        VIEW,
        starts_section=True,
    ),
    ActionRow(
        "show_graph",
        marked("Class graph or images"),
        "graph",
        ("Ctrl+G",),
        VIEW,
    ),
    ActionRow("fit_graph", marked("See the whole class graph"), "fit", ("Ctrl+0",), VIEW),
    ActionRow("find_in_graph", marked("Find a class in the graph"), "search", ("Ctrl+F",), VIEW),
    ActionRow(
        "focus_class",
        marked("Show what is around the class"),
        "target",
        ("Ctrl+Shift+F",),
        VIEW,
        Needs.PROJECT | Needs.CLASS,
    ),
    ActionRow(
        "zoom_in",
        marked("Larger thumbnails"),
        "zoom_in",
        ("Ctrl++", "Ctrl+="),
        VIEW,
    ),
    ActionRow("zoom_out", marked("Smaller thumbnails"), "zoom_out", ("Ctrl+-",), VIEW),
    ActionRow(
        "show_changed_images",
        marked("Show images that changed class"),
        "changed",
        ("Ctrl+Shift+J",),
        VIEW,
        starts_section=True,
    ),
    ActionRow("show_failures", marked("Files that could not be read"), "failure", (), VIEW),
)
