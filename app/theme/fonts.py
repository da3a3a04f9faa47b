"""The families that letters come from, by the language of the window."""

from collections.abc import Mapping
from typing import Final

from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QApplication

FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    "zh_CN": (
        "Microsoft YaHei UI", "Microsoft YaHei", "PingFang SC", "Hiragino Sans GB", "Noto Sans CJK SC",
        "Source Han Sans SC", "Noto Sans SC", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Droid Sans Fallback",
    ),
}  # fmt: skip
"""Of Windows, macOS and Linux. Unicode has one number for the Chinese and the Japanese form of a character: where the
system speaks neither, Qt may take it from the first font that has it, and that may be a Japanese one (直, 骨, 门)."""


def families_for(language: str, systems: str) -> tuple[str, ...]:
    """The families of a language, behind the system's own, which has the Latin letters.

    A system's family that has Chinese characters itself comes last: their form may be another country's.

    Returns:
        none where the system's own choice is as good as any.
    """
    wanted = FAMILIES.get(language, ())
    if not wanted:
        return ()
    has_characters = QFontDatabase.WritingSystem.SimplifiedChinese in QFontDatabase.writingSystems(
        systems
    )
    return (*wanted, systems) if has_characters else (systems, *wanted)


def wear_fonts(application: QApplication, language: str) -> None:
    """Take letters from the families of a language, in windows that are made from now on."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    families = families_for(language, font.family())
    if families:
        font.setFamilies(families)
    if (
        font.families() != application.font().families()
    ):  # a font that nobody set follows the system's
        application.setFont(font)
