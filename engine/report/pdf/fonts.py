"""Fonts of the PDF: an embedded one, and CID fonts of PDF readers for East Asian scripts.

The embedded font is one of the system that has Greek, Cyrillic, Hebrew or Arabic letters, else the
Latin one that ReportLab brings. Other letters are shown as a box.
"""

import logging
import os
import sys
import threading
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from unicodedata import category

from engine.report.pdf.visual import visual

REGULAR = "Protoleaf"
BOLD = "Protoleaf-Bold"
_PAIRS = (
    ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"),
    ("NotoSans-Regular.ttf", "NotoSans-Bold.ttf"),
    ("LiberationSans-Regular.ttf", "LiberationSans-Bold.ttf"),
    ("segoeui.ttf", "segoeuib.ttf"),
    ("Arial.ttf", "Arial Bold.ttf"),
    ("arial.ttf", "arialbd.ttf"),
)
"""Regular and bold, best first."""
_REPORTLAB_PAIR = ("Vera.ttf", "VeraBd.ttf")
_MAX_DEPTH = 3  # of subfolders of a font folder that are searched
_HANGUL = "HYGothic-Medium"
_KANA = "HeiseiKakuGo-W5"
_HAN = "STSong-Light"
_EAST_ASIAN = (
    (0x1100, 0x11FF, _HANGUL),
    (0x3130, 0x318F, _HANGUL),
    (0xAC00, 0xD7A3, _HANGUL),
    (0x3040, 0x30FF, _KANA),
    (0xFF65, 0xFF9F, _KANA),
    (0x2E80, 0x9FFF, _HAN),
    (0xFF00, 0xFFEF, _HAN),
)
"""Unicode blocks with their font; the first match wins."""
_BOX = "\u25a1"
_register_lock = threading.Lock()
_log = logging.getLogger(__name__)


def load_fonts() -> None:
    """Register the fonts with ReportLab, once per process."""
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfbase.ttfonts import TTFont

    with _register_lock:
        if REGULAR in pdfmetrics.getRegisteredFontNames():
            return
        for name, file in zip((REGULAR, BOLD), readable_fonts(), strict=True):
            pdfmetrics.registerFont(TTFont(name, file))
        for name in (_HANGUL, _KANA, _HAN):
            pdfmetrics.registerFont(UnicodeCIDFont(name))


def readable_fonts() -> tuple[str, str]:
    """The first pair of fonts that ReportLab can read."""
    from reportlab.pdfbase.ttfonts import TTFError, TTFont

    for pair in system_fonts(font_folders()):
        try:
            for file in pair:
                TTFont("trial", str(file))
        except (TTFError, OSError) as error:
            _log.info("a font cannot be used: %s", error)
        else:
            return str(pair[0]), str(pair[1])
    return _REPORTLAB_PAIR


def system_fonts(folders: Iterator[Path]) -> Iterator[tuple[Path, Path]]:
    """Installed fonts, best first."""
    wanted = {name for pair in _PAIRS for name in pair}
    found: dict[str, Path] = {}
    for folder in folders:
        for place, below, names in os.walk(folder):
            found.update(
                {name: Path(place, name) for name in wanted.intersection(names) - found.keys()}
            )
            if len(Path(place).relative_to(folder).parts) >= _MAX_DEPTH:
                below.clear()
    for regular, bold in _PAIRS:
        if regular in found and bold in found:
            yield found[regular], found[bold]


def font_folders() -> Iterator[Path]:
    """Font folders of this system."""
    if sys.platform == "win32":
        yield Path(os.environ.get("WINDIR", r"C:\Windows"), "Fonts")
    elif sys.platform == "darwin":
        yield from (Path("/System/Library/Fonts/Supplemental"), Path("/Library/Fonts"))
    else:
        data = os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
        yield from (Path(each, "fonts") for each in data.split(":") if each)


def runs_of(text: str, font: str) -> list[tuple[str, str]]:
    """Split a text into parts of one font each, from left to right."""
    known = _letters_of(font)

    def font_of(letter: str) -> str:
        return font if ord(letter) in known else _east_asian_font(letter)

    letters = (
        each if ord(each) in known or category(each) != "Zs" else " " for each in visual(text)
    )
    runs = [(name, "".join(part)) for name, part in groupby(letters, font_of)]
    return [(name or font, part if name else _BOX * len(part)) for name, part in runs]


@lru_cache(4)
def _letters_of(font: str) -> frozenset[int]:
    from reportlab.pdfbase import pdfmetrics

    return frozenset(pdfmetrics.getFont(font).face.charToGlyph)


def _east_asian_font(letter: str) -> str:
    """The CID font of the letter's Unicode block, or ""."""
    code = ord(letter)
    return next((font for low, high, font in _EAST_ASIAN if low <= code <= high), "")


@lru_cache(50_000)
def width_of(text: str, font: str, size: float) -> float:
    """Width in points."""
    from reportlab.pdfbase import pdfmetrics

    return sum(
        float(pdfmetrics.stringWidth(part, name, size)) for name, part in runs_of(text, font)
    )


def cut_to(text: str, max_width: float, font: str, size: float) -> str:
    """A text, or its beginning with an ellipsis."""
    if width_of(text, font, size) <= max_width:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if width_of(text[:middle].rstrip() + "…", font, size) <= max_width:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + "…" if low else "…"


def wrapped(text: str, max_width: float, font: str, size: float) -> list[str]:
    """Lines of a text; words that are longer than a line are broken."""
    lines, line = list[str](), ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if width_of(longer, font, size) <= max_width:
            line = longer
            continue
        if line:
            lines.append(line)
        *broken, line = _broken(word, max_width, font, size)
        lines += broken
    return [*lines, line] if line else lines


def _broken(word: str, max_width: float, font: str, size: float) -> list[str]:
    """A word in pieces that fit a line."""
    pieces = list[str]()
    while width_of(word, font, size) > max_width and len(word) > 1:
        lengths = range(len(word), 0, -1)
        fits = next((n for n in lengths if width_of(word[:n], font, size) <= max_width), 1)
        pieces.append(word[:fits])
        word = word[fits:]
    return [*pieces, word]
