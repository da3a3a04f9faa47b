"""Texts about duplicates and bursts."""

from app.texts import fill, plural, tr
from app.wording import images, on_one_line


def fold_all_title() -> str:
    return tr("Fold duplicates and bursts")


def unfold_all_title() -> str:
    return tr("Unfold all duplicates and bursts")


def one_of_each_title() -> str:
    return tr("One of each")


def best_title() -> str:
    return tr("Best of each burst")


def folds_found(image_count: int, folds: int) -> str:
    """`88 images are duplicates or bursts, in 43 groups`, as a sentence."""
    groups = plural(folds, "%n group", "%n groups")
    return fill(tr("%1 are duplicates or bursts, in %2."), images(image_count), groups)


def no_fold() -> str:
    return tr("This image has no duplicates and is in no burst.")


def no_bursts() -> str:
    return tr(
        "There are no bursts: no two photos of one camera were taken within the time that is set."
    )


def seconds_prompt() -> str:
    return tr("Maximum gap in a burst, in seconds")


def seconds_text(seconds: int) -> str:
    if seconds == 0:
        return tr("No bursts")
    return on_one_line(plural(seconds, "1 second", "%n seconds"))
