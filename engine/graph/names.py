"""Class names and paths as text: valid names, paths written and read."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from engine.errors import GraphError
from engine.graph.limits import DEEPEST_LEVEL, LONGEST_NAME
from engine.texts import Message, marked

SEPARATOR = "/"
_CLASS_NAME = marked("class name")
_CONTROLS = Message("control characters or line breaks")
_MARKS = Message("marks that override the writing direction")

_PATH_PIECE = re.compile(r"\\[\\/]|/|[^\\/]+|\\")
_MOST_DECOMPOSED = 4  # one character in form NFC represents at most so many
# Format characters (Cf) stay: scripts such as Persian and many emoji need their joiners.
_REFUSED_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})
# They reverse the text after them, also beyond the name: a list or file name would be misread.
_DIRECTION_MARKS = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
_SEEN_CATEGORIES = frozenset({"Mc", "Co", "Cn"})
"""Besides letters, numbers, punctuation and symbols."""
_SEEN_KINDS = frozenset("LNPS")
_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Hangul fillers and Braille without a dot."""


def clean_name(name: str, *, noun: str = _CLASS_NAME, longest: int = LONGEST_NAME) -> str:
    """Normalise a class name, or something like it: Unicode form NFC, without blanks around it.

    Combining marks, joiners and emoji sequences are part of many names; they need a visible
    character.

    Args:
        noun: what it is, for the error.
        longest: at most so many characters.

    Raises:
        GraphError: the name is empty or cannot be seen, is too long, or holds control characters or
            marks that override the direction of writing.
    """
    bare = name.strip()
    # Asked first: normalising takes quadratic time over a long run of combining marks.
    if len(bare) > longest * _MOST_DECOMPOSED:
        raise _too_long(bare, noun, longest)
    cleaned = unicodedata.normalize("NFC", bare).strip()
    if not cleaned:
        raise GraphError(
            "a class needs a name",
            found="an empty one",
            remedy="write at least one visible character",
        )
    if len(cleaned) > longest:
        raise _too_long(cleaned, noun, longest)
    if not (cleaned.isascii() and cleaned.isprintable()):
        _refuse_treacherous_characters(cleaned, noun)
        _refuse_invisible(cleaned)
    return cleaned


def clean_path(names: Sequence[str]) -> tuple[str, ...]:
    """Normalise the names on the way from a root down to a class.

    Raises:
        GraphError: no class can have this path: it is too long, or one of the names cannot be a
            class's.
    """
    if len(names) > DEEPEST_LEVEL + 1:
        raise GraphError(
            'the path of "{name}" is too deep',
            expected="at most {deepest:,} classes above it",
            found=f"{len(names) - 1:,}",
            remedy="shorten it",
            name=names[-1][:40],
            deepest=DEEPEST_LEVEL,
        )
    return tuple(map(clean_name, names))


def loose_name(name: str) -> str:
    """Normalise what names differ by only in capitals, blanks, underscores, or composed accents."""
    composed = unicodedata.normalize("NFC", name[: LONGEST_NAME * _MOST_DECOMPOSED])
    return " ".join(unicodedata.normalize("NFC", composed.casefold()).replace("_", " ").split())


def join_path(names: Iterable[str]) -> str:
    r"""Join names from a root down to a path; "/" inside a name becomes "\/" and "\" "\\"."""
    return SEPARATOR.join(name.replace("\\", "\\\\").replace(SEPARATOR, "\\/") for name in names)


def split_path(path: str) -> tuple[str, ...]:
    r"""Split a path into names in form NFC, from the top down; empty ones are left out.

    "\/" and "\\" are the characters themselves.
    """
    names = [""]
    for piece in _PATH_PIECE.findall(unicodedata.normalize("NFC", path)):
        if piece == SEPARATOR:
            names.append("")
        else:
            names[-1] += piece[1] if piece in {"\\\\", "\\/"} else piece
    return tuple(name.strip() for name in names if name.strip())


def _too_long(name: str, noun: str, longest: int) -> GraphError:
    return GraphError(
        'the {noun} "{name}..." is too long',
        expected="at most {longest} characters",
        found=f"{len(name):,}",
        remedy="shorten it",
        noun=Message(noun),
        name=name[:40],
        longest=longest,
    )


def _refuse_treacherous_characters(name: str, noun: str) -> None:
    for position, character in enumerate(name, start=1):
        is_control = unicodedata.category(character) in _REFUSED_CATEGORIES or _is_noncharacter(
            character
        )
        if is_control or unicodedata.bidirectional(character) in _DIRECTION_MARKS:
            kind = _CONTROLS if is_control else _MARKS
            raise GraphError(
                "a {noun} cannot contain {kind}",
                found="{character} at character {position} of {name}",
                remedy="delete that character",
                noun=Message(noun),
                kind=kind,
                character=ascii(character),
                position=position,
                name=ascii(name[:60]),
            )


def _refuse_invisible(name: str) -> None:
    if not any(_is_seen(character) for character in name):
        raise GraphError(
            "a class needs a name that can be seen",
            found="only invisible characters, {name}",
            remedy="write at least one visible character",
            name=ascii(name[:20]),
        )


def _is_seen(character: str) -> bool:
    """Whether a character shows by itself; combining marks, blanks and joiners do not."""
    category = unicodedata.category(character)
    return character not in _BLANK_LETTERS and (
        category[0] in _SEEN_KINDS or category in _SEEN_CATEGORIES
    )


def _is_noncharacter(character: str) -> bool:
    """Whether a code point is a Unicode noncharacter; XML cannot contain the last two of them."""
    code = ord(character)
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF  # noqa: PLR2004
