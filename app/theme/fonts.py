"""Font families by interface language."""

from collections.abc import Mapping
from functools import lru_cache

from PySide6.QtGui import QFont, QFontDatabase
from PySide6.QtWidgets import QApplication

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "zh_CN": (
        "Microsoft YaHei UI",
        "Microsoft YaHei",
        "PingFang SC",
        "Hiragino Sans GB",
        "Noto Sans CJK SC",
        "Source Han Sans SC",
        "Noto Sans SC",
        "WenQuanYi Micro Hei",
        "WenQuanYi Zen Hei",
        "Droid Sans Fallback",
    )
}
"""Families of Windows, macOS and Linux. Unicode has one code point for the Chinese and the Japanese
form of a character (Han unification): where the system has neither language, Qt may take it from a
Japanese font (直, 骨, 门)."""


def families_for(language: str, systems: str) -> tuple[str, ...]:
    """Font families for a language, after the system's own family for Latin letters.

    A system family with Chinese characters of its own comes last: their forms may be Japanese.

    Returns:
        Empty where the system's default is sufficient.
    """
    wanted = FAMILIES.get(language, ())
    if not wanted:
        return ()
    has_characters = QFontDatabase.WritingSystem.SimplifiedChinese in QFontDatabase.writingSystems(
        systems
    )
    return (*wanted, systems) if has_characters else (systems, *wanted)


def apply_fonts(application: QApplication, language: str) -> None:
    """Set the font families of a language for windows created from now on."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    families = families_for(language, font.family())
    if families:
        font.setFamilies(families)
    # A font that is not set follows the system's.
    if font.families() != application.font().families():
        application.setFont(font)
        font_of_pixels.cache_clear()


@lru_cache(maxsize=16)
def font_of_pixels(pixels: int, *, is_strong: bool) -> QFont:
    """The program's font in a size; shared by all painters, so it must not be changed.

    Cached: a new font costs a search of its glyphs, at each text of each card.
    """
    font = QFont()
    font.setPixelSize(pixels)
    if is_strong:
        font.setWeight(QFont.Weight.DemiBold)
    return font
