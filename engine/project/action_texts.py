"""Actions in words, in the past tense for a toast and the history, as a command for Undo and Redo."""

from collections.abc import Collection, Sequence
from typing import Final


def counted(count: int, noun: str, plural: str = "") -> str:
    """A number with its noun: "1 image", "12 images", "7 classes"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {plural or noun + 's'}"


_COMMANDS: Final = {
    "Accepted": "Accept",
    "Added": "Add",
    "Allowed": "Allow",
    "Changed": "Change",
    "Created": "Create",
    "Dismissed": "Dismiss",
    "Found": "Find",
    "Imported": "Import",
    "Labelled": "Label",
    "Marked": "Mark",
    "Merged": "Merge",
    "Moved": "Move",
    "Pasted": "Paste",
    "Remembered": "Remember",
    "Removed": "Remove",
    "Renamed": "Rename",
    "Showed": "Show",
    "Split": "Split",
    "Stopped": "Stop",
    "Switched": "Switch",
    "Tried": "Try",
    "Turned": "Turn",
    "Unlinked": "Unlink",
    "Updated": "Update",
}


def command_text(text: str) -> str:
    """Name an action as Undo and Redo do: "Label 3 images as Gull" for "Labelled 3 images as Gull"."""
    verb, space, rest = text.partition(" ")
    return f"{_COMMANDS.get(verb, verb)}{space}{rest}"


def added_text(images: int, labels: int = 0, class_names: Collection[str] = ()) -> str:
    """Adding images in words: "Added 12 images as Gull", "Added 2,640 images in 27 classes".

    Args:
        images: new images.
        labels: labels that came along, of old images too.
        class_names: the classes they name, where exactly the new images got one; else empty.
    """
    if class_names:
        where = f"as {next(iter(class_names))}" if len(class_names) == 1 else f"in {len(class_names):,} classes"
        return f"Added {counted(images, 'image')} {where}"
    added = [counted(images, "image")] if images or not labels else []
    return "Added " + " and ".join([*added, *([counted(labels, "label")] if labels else [])])


def imported_text(source: str, classes: int, links: int, names: int) -> str:
    """Importing a class list in words: what is most of the news in it.

    Args:
        source: name of the file or folder.
        classes: new classes.
        links: new edges, told where no class is new.
        names: classes that got further synonyms or an id, told where nothing else is new.
    """
    if classes or not (links or names):
        return f"Imported {counted(classes, 'class', 'classes')} from {source}"
    if links:
        return f"Imported {counted(links, 'parent')} from {source}"
    return f"Imported synonyms of {counted(names, 'class', 'classes')} from {source}"


def updated_text(source: str, *, new: int, renamed: int, moved: int, merged: int, removed: int, completed: int) -> str:
    """Taking over a new version of a class list in words: "Updated from birds-2.csv: 12 new classes, 3 renamed".

    Args:
        source: name of the file or folder.
        new, renamed, moved, merged, removed: how many classes.
        completed: classes that got synonyms or an id, told where nothing else happened.
    """
    parts = [counted(new, "new class", "new classes")] if new else []
    others = {"renamed": renamed, "moved": moved, "merged": merged, "removed": removed}
    parts += [f"{count:,} {what}" for what, count in others.items() if count]
    synonyms = f"synonyms of {counted(completed, 'class', 'classes')}"
    return f"Updated from {source}: {', '.join(parts) or synonyms}"


def described_text(source: str, classes: int) -> str:
    """Importing a class list of which only the notes and colours were new."""
    return f"Imported notes of {counted(classes, 'class', 'classes')} from {source}"


def remembered_text(source: str) -> str:
    """Importing a class list that brings nothing new: what it says is kept to compare its next version with."""
    return f"Remembered the classes of {source}"


def label_text(count: int, class_name: str | None) -> str:
    """Labelling in words; class None is "none of the classes"."""
    return f"Labelled {counted(count, 'image')} as {'none of the classes' if class_name is None else class_name}"


def policy_text(class_name: str, *, bar_changed: bool, is_deepest: bool) -> str:
    """A change of how sure the program must be of a class, or of where it stops, in words."""
    if bar_changed:
        return f"Changed the confidence needed for {class_name}"
    return f"Stopped predictions at {class_name}" if is_deepest else f"Allowed predictions below {class_name}"


def merged_text(names: Sequence[str], heir_name: str, labels: int = 0) -> str:
    """Merging classes into another one in words, with the labels that went along."""
    return _with_moved_labels(f"Merged {one_or_count(names)} into {heir_name}", labels)


def split_text(class_name: str, part_names: Sequence[str], labels: int = 0) -> str:
    """Splitting a class in words, with the labels that its parts got."""
    text = f"Split {one_or_count(part_names)} off {class_name}"
    return _with_moved_labels(text, labels)


def _with_moved_labels(text: str, labels: int) -> str:
    return f"{text} ({counted(labels, 'label')} moved)" if labels else text


def remove_classes_text(
    chosen: Sequence[str], below: int = 0, *, moved: int = 0, removed: int = 0, heir_name: str = ""
) -> str:
    """Removing classes in words, with what happens to their labels.

    Args:
        chosen: names of the classes that were chosen.
        below: further classes that went with them.
        moved, removed: labels that another class got, and that were taken away.
        heir_name: the class that got the labels; empty for several.
    """
    text = f"Removed {classes_text(chosen)}{_and_below(chosen, below)}"
    parts = [f"{counted(moved, 'label')} moved to {heir_name or 'their parents'}"] if moved else []
    parts += [f"{counted(removed, 'label')} removed"] if removed else []
    return f"{text} ({', '.join(parts)})" if parts else text


def pasted_text(names: Sequence[str], below: int, place: str | None) -> str:
    """Pasting classes in words; no place is the top level."""
    text = f"Pasted {classes_text(names)}{_and_below(names, below)}"
    return text if place is None else f"{text} into {place}"


def moved_text(names: Sequence[str], place: str | None) -> str:
    """Moving classes in words; no place is the top level."""
    return f"Moved {classes_text(names)} to {'the top level' if place is None else place}"


def linked_text(parent_name: str, names: Sequence[str]) -> str:
    """Putting classes under one more parent in words."""
    return f"Added parent {parent_name} to {one_or_count(names)}"


def unlinked_text(parent_names: Sequence[str], names: Sequence[str]) -> str:
    """Taking classes away from parents in words."""
    text = f"Unlinked {one_or_count(names)} from "
    return text + (parent_names[0] if len(parent_names) == 1 else counted(len(parent_names), "parent"))


def attributes_text(attributes: Sequence[str], names: Sequence[str]) -> str:
    """A change of attributes of classes in words."""
    changed = " and ".join(attributes) if len(attributes) > 1 else f"the {next(iter(attributes), 'attributes')}"
    return f"Changed {changed} of {one_or_count(names)}"


def _and_below(chosen: Sequence[str], below: int) -> str:
    return f" and {below:,} below {'it' if len(chosen) == 1 else 'them'}" if below else ""


def one_or_count(names: Sequence[str]) -> str:
    """Classes in words: "Gull", "3 classes"."""
    return names[0] if len(names) == 1 else counted(len(names), "class", "classes")


def classes_text(names: Sequence[str]) -> str:
    """Classes in words after a verb: "class Gull", "3 classes"."""
    return f"class {names[0]}" if len(names) == 1 else one_or_count(names)
