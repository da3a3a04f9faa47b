"""Fonts of the PDF: one that goes into the file, and those of a reader for scripts that it does not have.

It is one of this computer's, which have Greek, Cyrillic, Hebrew or Arabic letters, else the Latin one that the library
brings. Chinese, Japanese and Korean letters are named after standard fonts that programs for PDF bring; other letters
are shown as a box.
"""

import logging
import os
import sys
import threading
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, Final
from unicodedata import category

from engine.report.pdf.visual import visual

REGULAR: Final = "Protoleaf"
BOLD: Final = "Protoleaf-Bold"
_PAIRS: Final = (
    ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"),
    ("NotoSans-Regular.ttf", "NotoSans-Bold.ttf"),
    ("LiberationSans-Regular.ttf", "LiberationSans-Bold.ttf"),
    ("segoeui.ttf", "segoeuib.ttf"),
    ("Arial.ttf", "Arial Bold.ttf"),
    ("arial.ttf", "arialbd.ttf"),
)
"""Regular and bold, best first."""
_OWN: Final = ("Vera.ttf", "VeraBd.ttf")  # of the library
_DEEPEST: Final = 3  # folders below one of fonts that are searched
_HANGUL: Final = "HYGothic-Medium"
_KANA: Final = "HeiseiKakuGo-W5"
_HAN: Final = "STSong-Light"
_BOX: Final = "\u25a1"
_register: Final = threading.Lock()
_log: Final = logging.getLogger(__name__)


def load_fonts() -> None:
    """Make the fonts known to the library, once in a process."""
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfbase.ttfonts import TTFont

    with _register:
        if REGULAR in pdfmetrics.getRegisteredFontNames():
            return
        pdfmetrics.registerFont(TTFont(REGULAR, (found := readable_fonts())[0]))
        pdfmetrics.registerFont(TTFont(BOLD, found[1]))
        for name in (_HANGUL, _KANA, _HAN):
            pdfmetrics.registerFont(UnicodeCIDFont(name))


def readable_fonts() -> tuple[str, str]:
    """The first pair of fonts that the library can read."""
    from reportlab.pdfbase.ttfonts import TTFError, TTFont

    for pair in system_fonts(font_folders()):
        try:
            for file in pair:
                TTFont("trial", str(file))
        except (TTFError, OSError) as error:
            _log.info("a font cannot be used: %s", error)
        else:
            return str(pair[0]), str(pair[1])
    return _OWN


def system_fonts(folders: Iterator[Path]) -> Iterator[tuple[Path, Path]]:
    """Fonts of this computer, best first."""
    wanted = {name for pair in _PAIRS for name in pair}
    found: dict[str, Path] = {}
    for folder in folders:
        for place, below, names in os.walk(folder):
            found.update(
                {name: Path(place, name) for name in wanted.intersection(names) - found.keys()}
            )
            if len(Path(place).relative_to(folder).parts) >= _DEEPEST:
                below.clear()
    yield from (
        (found[regular], found[bold])
        for regular, bold in _PAIRS
        if regular in found and bold in found
    )


def font_folders() -> Iterator[Path]:
    """Where this system keeps fonts."""
    if sys.platform == "win32":
        yield Path(os.environ.get("WINDIR", r"C:\Windows"), "Fonts")
    elif sys.platform == "darwin":
        yield from (Path("/System/Library/Fonts/Supplemental"), Path("/Library/Fonts"))
    else:
        data = os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
        yield from (Path(each, "fonts") for each in data.split(":") if each)


def runs_of(words: str, font: str) -> list[tuple[str, str]]:
    """Fonts and their part of a text, from left to right."""
    known = _letters_of(font)

    def font_of(letter: str) -> str:
        return font if ord(letter) in known else _of_the_east(letter) or ""

    letters = (
        each if ord(each) in known or category(each) != "Zs" else " " for each in visual(words)
    )
    runs = [(name, "".join(part)) for name, part in groupby(letters, font_of)]
    return [(name or font, part if name else _BOX * len(part)) for name, part in runs]


@lru_cache(4)
def _letters_of(font: str) -> frozenset[int]:
    from reportlab.pdfbase import pdfmetrics

    return frozenset(pdfmetrics.getFont(font).face.charToGlyph)


def _of_the_east(letter: str) -> str | None:
    code = ord(letter)
    if 0x1100 <= code <= 0x11FF or 0x3130 <= code <= 0x318F or 0xAC00 <= code <= 0xD7A3:  # noqa: PLR2004 (blocks of Unicode)
        return _HANGUL
    if 0x3040 <= code <= 0x30FF or 0xFF65 <= code <= 0xFF9F:  # noqa: PLR2004
        return _KANA
    return _HAN if 0x2E80 <= code <= 0x9FFF or 0xFF00 <= code <= 0xFFEF else None  # noqa: PLR2004


@lru_cache(50_000)
def width_of(words: str, font: str, size: float) -> float:
    """Width in points."""
    from reportlab.pdfbase import pdfmetrics

    return sum(
        float(pdfmetrics.stringWidth(part, name, size)) for name, part in runs_of(words, font)
    )


def cut_to(words: str, room: float, font: str, size: float) -> str:
    """A text, or its beginning with an ellipsis."""
    if width_of(words, font, size) <= room:
        return words
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        if width_of(words[:middle].rstrip() + "…", font, size) <= room:
            low = middle
        else:
            high = middle - 1
    return words[:low].rstrip() + "…" if low else "…"


def wrapped(words: str, room: float, font: str, size: float) -> list[str]:
    """Lines of a text; words that are longer than a line are broken."""
    lines, line = list[str](), ""
    for word in words.split():
        longer = f"{line} {word}" if line else word
        if width_of(longer, font, size) <= room:
            line = longer
            continue
        if line:
            lines.append(line)
        *broken, line = _broken(word, room, font, size)
        lines += broken
    return [*lines, line] if line else lines


def _broken(word: str, room: float, font: str, size: float) -> list[str]:
    """A word in pieces that fit a line."""
    pieces = list[str]()
    while width_of(word, font, size) > room and len(word) > 1:
        fits = next(
            (n for n in range(len(word), 0, -1) if width_of(word[:n], font, size) <= room), 1
        )
        pieces.append(word[:fits])
        word = word[fits:]
    return [*pieces, word]


def draw(canvas: Any, at: tuple[float, float], words: str, font: str, size: float) -> None:
    """Write a text from a point of its base line on."""
    x, y = at
    for name, part in runs_of(words, font):
        canvas.setFont(name, size)
        canvas.drawString(x, y, part)
        x += canvas.stringWidth(part, name, size)
