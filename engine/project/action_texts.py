"""Actions in words, as the undo menu and the toasts show them."""


def counted(count: int, noun: str) -> str:
    """A number with its noun: "1 image", "12 images"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def label_text(count: int, class_name: str | None) -> str:
    """Labelling in words; class None is "none of the classes"."""
    images = counted(count, "image")
    return f"Mark {images} as unknown" if class_name is None else f"Label {images} as {class_name}"


def remove_class_text(class_name: str, labels: int, heir_name: str | None) -> str:
    """Removing a class in words, with what happens to its labels."""
    text = f"Remove class {class_name}"
    if not labels:
        return text
    fate = "removed" if heir_name is None else f"moved to {heir_name}"
    return f"{text} ({counted(labels, 'label')} {fate})"
