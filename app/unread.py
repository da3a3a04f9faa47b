"""Why a file could not be read, as short as a card needs it."""

from collections.abc import Callable
from pathlib import PurePath
from typing import Final

from app.texts import fill, tr

_NO_IMAGE: Final = "this is not an image that can be read"
_DAMAGED: Final = "the image is damaged or incomplete"
_CUT_OFF: Final = ("truncated", "ends long before", "premature", "unexpected end", "cut off")
_KINDS_OF_IMAGES: Final = ("image", "photo", "photoshop")  # which are images, but of no kind that is read
_EMPTY_FINDS: Final = ("unknown content", "")
_JPEG: Final = frozenset({"JPG", "JPEG", "JPE", "JFIF"})


def short_reason(failure: str, name: str) -> str:
    """`Truncated JPEG`, `Not an image: a web page`, `File not found`.

    Args:
        failure: the engine's line about the file.
        name: the file's name.
    """
    what, _, rest = failure.partition(": ")
    what, found = what.partition(". ")[0], _found_in(rest)
    if what == _NO_IMAGE:
        return _no_image(found)
    if what == _DAMAGED:
        is_cut_off = any(sign in failure.lower() for sign in _CUT_OFF)
        template = tr("Truncated %1") if is_cut_off else tr("Damaged %1")
        return fill(template, _kind_of(name))
    if what in _SHORT:
        return _SHORT[what]()
    return what[:1].upper() + what[1:]


def _found_in(facts: str) -> str:
    """What was found, without what was expected and what to do."""
    _, sign, found = facts.partition("found ")
    return found.partition(". ")[0] if sign else ""


def _no_image(found: str) -> str:
    if found in _EMPTY_FINDS:
        return tr("Not an image")
    if any(kind in found.lower() for kind in _KINDS_OF_IMAGES):
        return tr("Not supported: %1", found)
    return tr("Not an image: %1", found)


def _kind_of(name: str) -> str:
    suffix = PurePath(name).suffix[1:].upper()
    return "JPEG" if suffix in _JPEG else suffix or tr("image")


_SHORT: Final[dict[str, Callable[[], str]]] = {
    "the file is not there": lambda: tr("File not found"),
    "the file cannot be read": lambda: tr("Cannot be opened"),
    "the file is empty": lambda: tr("Empty file"),
    "the file is too large": lambda: tr("File too large"),
    "the RAW photo has no preview that can be shown": lambda: tr("RAW photo without a preview"),
    "the image is too large": lambda: tr("Too many pixels"),
    "there is not enough memory for this image": lambda: tr("Not enough memory"),
    "there is not enough memory to read this file": lambda: tr("Not enough memory"),
    "the file's name cannot be used": lambda: tr("File name cannot be used"),
    "this is a folder": lambda: tr("A folder, not an image"),
    "this is a device or a pipe": lambda: tr("Not a file"),
}
