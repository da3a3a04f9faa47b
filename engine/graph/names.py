"""Class names and paths as text: what a name may be, how names sort, how a path is written and read."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from engine.errors import GraphError

LONGEST_NAME: Final = 255
SEPARATOR: Final = "/"

_DIGITS: Final = re.compile(r"(\d+)")
_PATH_PIECE: Final = re.compile(r"\\[\\/]|/|[^\\/]+|\\")
# Format characters (Cf) stay: scripts such as Persian and many emoji need their joiners.
_REFUSED_CATEGORIES: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})


def clean_name(name: str) -> str:
    """Normalise a class name.

    Args:
        name: as a person or a file wrote it.

    Returns:
        The name in Unicode form NFC, without blanks around it.

    Raises:
        GraphError: the name is empty, too long, or holds control characters.
    """
    cleaned = unicodedata.normalize("NFC", name).strip()
    if not cleaned:
        raise GraphError("a class needs a name", found="an empty one", remedy="write at least one visible character")
    if len(cleaned) > LONGEST_NAME:
        raise GraphError(
            f'the class name "{cleaned[:40]}..." is too long',
            expected=f"at most {LONGEST_NAME} characters",
            found=str(len(cleaned)),
            remedy="shorten it",
        )
    if not cleaned.isprintable():
        _refuse_control_characters(cleaned)
    return cleaned


def natural_key(name: str) -> tuple[list[str | int], str]:
    """Sort key by which "Leaf 9" comes before "leaf 10".

    Returns:
        Case-folded text and numbers in turn, then the name itself so that the order is total.
    """
    pieces = _DIGITS.split(name.casefold())
    return [int(piece) if index % 2 else piece for index, piece in enumerate(pieces)], name


def join_path(names: Iterable[str]) -> str:
    r"""Write names from a root down as one path; "/" inside a name becomes "\/" and "\" becomes "\\"."""
    return SEPARATOR.join(name.replace("\\", "\\\\").replace(SEPARATOR, "\\/") for name in names)


def split_path(path: str) -> tuple[str, ...]:
    r"""Read a path back into names.

    Args:
        path: names with "/" between them; "\/" and "\\" stand for the characters themselves. Empty names (a leading
            or doubled "/") are left out.

    Returns:
        The names in Unicode form NFC, from the top down.
    """
    names = [""]
    for piece in _PATH_PIECE.findall(unicodedata.normalize("NFC", path)):
        if piece == SEPARATOR:
            names.append("")
        else:
            names[-1] += piece[1] if piece in {"\\\\", "\\/"} else piece
    return tuple(name.strip() for name in names if name.strip())


def _refuse_control_characters(name: str) -> None:
    for position, character in enumerate(name, start=1):
        if unicodedata.category(character) in _REFUSED_CATEGORIES:
            raise GraphError(
                "a class name cannot hold control characters or line breaks",
                found=f"{character!a} at character {position} of {name[:60]!a}",
                remedy="delete that character",
            )
