"""Every action of the window as one row of data; menus, the command palette and the keys sheet are built from it.

Texts are marked for translation here and translated where they are shown.
"""

from typing import Final

from app.actions.row import (
    CLASSES,
    EDIT,
    GROUPS,
    HELP,
    IMAGES,
    MODEL,
    PROJECT,
    REVIEW,
    ActionRow,
    Needs,
    group_title,
)
from app.actions.view_rows import VIEW_ACTIONS
from app.texts import QT_TRANSLATE_NOOP

__all__ = ["ACTIONS", "BY_NAME", "GROUPS", "ActionRow", "Needs", "group_title"]

_WRITE: Final = Needs.PROJECT | Needs.WRITABLE
_FOR_GOOD: Final = _WRITE | Needs.FOR_GOOD
_TRIED_OUT: Final = _WRITE | Needs.TRIED_OUT
_REVIEW: Final = _WRITE | Needs.IMAGES
_CLASS: Final = _WRITE | Needs.CLASS


def _digit(number: int) -> ActionRow:
    return ActionRow(
        f"label_as_{number}",
        _DIGIT_TEXTS[number - 1],
        "digit",
        (str(number),),
        REVIEW,
        _REVIEW,
        on_images=True,
        starts_section=number == 1,
    )


_DIGIT_TEXTS: Final = (
    QT_TRANSLATE_NOOP("actions", "Label as the most likely class"),
    QT_TRANSLATE_NOOP("actions", "Label as the 2nd most likely class"),
    QT_TRANSLATE_NOOP("actions", "Label as the 3rd most likely class"),
    QT_TRANSLATE_NOOP("actions", "Label as the 4th most likely class"),
    QT_TRANSLATE_NOOP("actions", "Label as the 5th most likely class"),
    QT_TRANSLATE_NOOP("actions", "Label as the 6th most likely class"),
    QT_TRANSLATE_NOOP("actions", "Label as the 7th most likely class"),
    QT_TRANSLATE_NOOP("actions", "Label as the 8th most likely class"),
    QT_TRANSLATE_NOOP("actions", "Label as the 9th most likely class"),
)


ACTIONS: Final[tuple[ActionRow, ...]] = (
    ActionRow(
        "new_project", QT_TRANSLATE_NOOP("actions", "New project…"), "new", ("Ctrl+Shift+N",), PROJECT, Needs.NOTHING
    ),
    ActionRow(
        "open_project", QT_TRANSLATE_NOOP("actions", "Open project…"), "open", ("Ctrl+O",), PROJECT, Needs.NOTHING
    ),
    ActionRow(
        "try_sample", QT_TRANSLATE_NOOP("actions", "Try the sample collection"), "sample", (), PROJECT, Needs.NOTHING
    ),
    ActionRow(
        "export",
        QT_TRANSLATE_NOOP("actions", "Export…"),
        "export",
        ("Ctrl+Shift+E",),
        PROJECT,
        Needs.PROJECT | Needs.FOR_GOOD,
        starts_section=True,
    ),
    ActionRow(
        "export_graph",
        QT_TRANSLATE_NOOP("actions", "Export class graph…"),
        "export",
        (),
        PROJECT,
        Needs.PROJECT | Needs.FOR_GOOD,
    ),
    ActionRow(
        "import_labels", QT_TRANSLATE_NOOP("actions", "Import labels…"), "label", ("Ctrl+Shift+L",), PROJECT, _FOR_GOOD
    ),
    ActionRow(
        "backups",
        QT_TRANSLATE_NOOP("actions", "Backups…"),
        "history",
        (),
        PROJECT,
        Needs.PROJECT | Needs.FOR_GOOD,
        starts_section=True,
    ),
    ActionRow("close_project", QT_TRANSLATE_NOOP("actions", "Close project"), "close", ("Ctrl+W",), PROJECT),
    ActionRow(
        "quit", QT_TRANSLATE_NOOP("actions", "Quit"), "quit", ("Ctrl+Q",), PROJECT, Needs.NOTHING, starts_section=True
    ),
    ActionRow("undo", QT_TRANSLATE_NOOP("actions", "Undo"), "undo", ("Ctrl+Z",), EDIT, _WRITE | Needs.UNDO),
    ActionRow(
        "redo", QT_TRANSLATE_NOOP("actions", "Redo"), "redo", ("Ctrl+Shift+Z", "Ctrl+Y"), EDIT, _WRITE | Needs.REDO
    ),
    ActionRow(
        "command_palette",
        QT_TRANSLATE_NOOP("actions", "Search commands and classes…"),
        "search",
        ("Ctrl+K",),
        EDIT,
        Needs.NOTHING,
        starts_section=True,
    ),
    ActionRow("settings", QT_TRANSLATE_NOOP("actions", "Settings…"), "settings", ("Ctrl+,",), EDIT, Needs.NOTHING),
    ActionRow("new_class", QT_TRANSLATE_NOOP("actions", "New class…"), "class_new", ("Ctrl+N",), CLASSES, _WRITE),
    ActionRow(
        "new_sibling",
        QT_TRANSLATE_NOOP("actions", "New class beside it…"),
        "class_new",
        ("Ctrl+Return", "Ctrl+Enter"),
        CLASSES,
        _CLASS,
    ),
    ActionRow(
        "new_parent",
        QT_TRANSLATE_NOOP("actions", "New class above it…"),
        "class_new",
        ("Ctrl+Shift+Return", "Ctrl+Shift+Enter"),
        CLASSES,
        _CLASS,
    ),
    ActionRow(
        "new_top_class",
        QT_TRANSLATE_NOOP("actions", "New class at the top level…"),
        "class_new",
        ("Ctrl+Alt+Return", "Ctrl+Alt+Enter"),
        CLASSES,
        _WRITE,
    ),
    ActionRow(
        "rename_class",
        QT_TRANSLATE_NOOP("actions", "Rename class…"),
        "rename",
        ("F2",),
        CLASSES,
        _CLASS,
        starts_section=True,
    ),
    ActionRow("move_class", QT_TRANSLATE_NOOP("actions", "Move under…"), "move", ("Ctrl+M",), CLASSES, _CLASS),
    ActionRow("link_parent", QT_TRANSLATE_NOOP("actions", "Add another parent…"), "link", ("Ctrl+L",), CLASSES, _CLASS),
    ActionRow(
        "unlink_parent",
        QT_TRANSLATE_NOOP("actions", "Unlink from a parent"),
        "unlink",
        ("Ctrl+U",),
        CLASSES,
        _CLASS | Needs.SEVERAL_PARENTS,
    ),
    ActionRow("merge_class", QT_TRANSLATE_NOOP("actions", "Merge class into…"), "merge", ("Ctrl+J",), CLASSES, _CLASS),
    ActionRow("split_class", QT_TRANSLATE_NOOP("actions", "Split class…"), "split", ("Ctrl+Alt+J",), CLASSES, _CLASS),
    ActionRow(
        "copy_classes",
        QT_TRANSLATE_NOOP("actions", "Copy classes"),
        "copy",
        ("Ctrl+C",),
        CLASSES,
        Needs.PROJECT | Needs.CLASS,
        on_classes=True,
        starts_section=True,
    ),
    ActionRow(
        "cut_classes", QT_TRANSLATE_NOOP("actions", "Cut classes"), "cut", ("Ctrl+X",), CLASSES, _CLASS, on_classes=True
    ),
    ActionRow("paste_classes", QT_TRANSLATE_NOOP("actions", "Paste classes"), "paste", ("Ctrl+V",), CLASSES, _WRITE),
    ActionRow(
        "remove_class",
        QT_TRANSLATE_NOOP("actions", "Remove class"),
        "delete",
        ("Del",),
        CLASSES,
        _CLASS,
        on_classes=True,
        starts_section=True,
    ),
    ActionRow(
        "import_classes",
        QT_TRANSLATE_NOOP("actions", "Import classes from a file…"),
        "graph_import",
        ("Ctrl+Shift+I",),
        CLASSES,
        _WRITE,
        starts_section=True,
    ),
    ActionRow(
        "show_suggestions",
        QT_TRANSLATE_NOOP("actions", "Suggestions for the graph"),
        "suggestion",
        ("Ctrl+Shift+G",),
        CLASSES,
    ),
    ActionRow(
        "what_if",
        QT_TRANSLATE_NOOP("actions", "What if: try edits out"),
        "what_if",
        ("Ctrl+Shift+W",),
        CLASSES,
        _FOR_GOOD,
        starts_section=True,
    ),
    ActionRow(
        "keep_what_if",
        QT_TRANSLATE_NOOP("actions", "Keep what was tried out"),
        "accept",
        ("Ctrl+Shift+K",),
        CLASSES,
        _TRIED_OUT,
    ),
    ActionRow(
        "discard_what_if",
        QT_TRANSLATE_NOOP("actions", "Discard what was tried out"),
        "delete",
        ("Ctrl+Shift+D",),
        CLASSES,
        _TRIED_OUT,
    ),
    ActionRow("add_images", QT_TRANSLATE_NOOP("actions", "Add images…"), "images_add", ("Ctrl+I",), IMAGES, _FOR_GOOD),
    ActionRow(
        "add_folder", QT_TRANSLATE_NOOP("actions", "Add a folder…"), "folder_add", ("Ctrl+Shift+O",), IMAGES, _FOR_GOOD
    ),
    ActionRow(
        "read_images", QT_TRANSLATE_NOOP("actions", "Analyse waiting images"), "refresh", ("F5",), IMAGES, _FOR_GOOD
    ),
    ActionRow("find_moved_images", QT_TRANSLATE_NOOP("actions", "Find moved images…"), "search", (), IMAGES, _FOR_GOOD),
    ActionRow(
        "remove_images",
        QT_TRANSLATE_NOOP("actions", "Remove images from the project"),
        "delete",
        ("Del",),
        IMAGES,
        _REVIEW,
        on_images=True,
        starts_section=True,
    ),
    ActionRow(
        "accept",
        QT_TRANSLATE_NOOP("actions", "Accept the class on the card"),
        "accept",
        ("Return", "Enter"),
        REVIEW,
        _REVIEW,
        on_images=True,
    ),
    ActionRow(
        "accept_likeliest",
        QT_TRANSLATE_NOOP("actions", "Accept the most likely class"),
        "accept_safe",
        ("Shift+Return", "Shift+Enter"),
        REVIEW,
        _REVIEW,
        on_images=True,
    ),
    ActionRow("relabel", QT_TRANSLATE_NOOP("actions", "Label as…"), "relabel", ("R",), REVIEW, _REVIEW, on_images=True),
    ActionRow(
        "unknown",
        QT_TRANSLATE_NOOP("actions", "None of the classes"),
        "unknown",
        ("U",),
        REVIEW,
        _REVIEW,
        on_images=True,
    ),
    ActionRow(
        "reject",
        QT_TRANSLATE_NOOP("actions", "Remove label, or skip"),
        "reject",
        ("X",),
        REVIEW,
        _REVIEW,
        on_images=True,
    ),
    *(_digit(number) for number in range(1, 10)),
    ActionRow(
        "tune_propagation", QT_TRANSLATE_NOOP("actions", "Tune propagation…"), "tune", ("Ctrl+T",), MODEL, _FOR_GOOD
    ),
    ActionRow(
        "train_backbone",
        QT_TRANSLATE_NOOP("actions", "Train the backbone…"),
        "train",
        ("Ctrl+Shift+T",),
        MODEL,
        _FOR_GOOD,
    ),
    ActionRow(
        "choose_backbone",
        QT_TRANSLATE_NOOP("actions", "Backbone…"),
        "backbone",
        ("Ctrl+B",),
        MODEL,
        Needs.PROJECT | Needs.FOR_GOOD,
        starts_section=True,
    ),
    ActionRow(
        "show_model_versions",
        QT_TRANSLATE_NOOP("actions", "Model versions…"),
        "model_versions",
        ("Ctrl+Shift+M",),
        MODEL,
        Needs.PROJECT | Needs.FOR_GOOD,
    ),
    ActionRow(
        "choose_device",
        QT_TRANSLATE_NOOP("actions", "Performance…"),
        "device",
        ("Ctrl+D",),
        MODEL,
        Needs.NOTHING,
        starts_section=True,
    ),
    *VIEW_ACTIONS,
    ActionRow("user_guide", QT_TRANSLATE_NOOP("actions", "User guide"), "help", ("F1",), HELP, Needs.NOTHING),
    ActionRow("show_keys", QT_TRANSLATE_NOOP("actions", "Keys"), "keys", ("?",), HELP, Needs.NOTHING),
    ActionRow(
        "show_log",
        QT_TRANSLATE_NOOP("actions", "Show the log"),
        "folder",
        (),
        HELP,
        Needs.NOTHING,
        starts_section=True,
    ),
    ActionRow("copy_report", QT_TRANSLATE_NOOP("actions", "Copy the report"), "copy", (), HELP, Needs.NOTHING),
    ActionRow(
        "about", QT_TRANSLATE_NOOP("actions", "About Protoleaf…"), "info", (), HELP, Needs.NOTHING, starts_section=True
    ),
)

BY_NAME: Final = {row.name: row for row in ACTIONS}
