"""Font families by language."""

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QFont, QFontDatabase
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.language import language_names
from app.theme.fonts import FAMILIES, apply_fonts, families_for


@pytest.fixture
def font_again(qapp: QApplication) -> Iterator[None]:
    """Restore the application's font."""
    before = qapp.font()
    yield
    qapp.setFont(before)


def test_chinese_forms_come_from_chinese_fonts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Latin letters use the system font, unless it may have Japanese forms."""
    monkeypatch.setattr(
        QFontDatabase, "writingSystems", lambda _family: [QFontDatabase.WritingSystem.Latin]
    )
    families = families_for("zh_CN", "Segoe UI")
    assert families[0] == "Segoe UI"
    assert {"Microsoft YaHei UI", "PingFang SC", "Noto Sans CJK SC"} <= set(families)
    japanese = QFontDatabase.WritingSystem.Japanese, QFontDatabase.WritingSystem.SimplifiedChinese
    monkeypatch.setattr(QFontDatabase, "writingSystems", lambda _family: [*japanese])
    families = families_for("zh_CN", "Noto Sans CJK JP")
    assert families[-1] == "Noto Sans CJK JP"
    assert families[:-1] == FAMILIES["zh_CN"]


def test_no_family_has_japanese_forms() -> None:
    """No family has forms of Japan, Taiwan, Hong Kong or Korea."""
    for families in FAMILIES.values():
        assert not [
            each
            for each in families
            if each.endswith((" JP", " TC", " HK", " KR")) or "Gothic" in each
        ]


@pytest.mark.parametrize(
    "language", sorted({*language_names(), "en", "de", "fr", "es", "pt_BR"} - {"zh_CN"})
)
def test_other_languages_leave_the_choice_to_the_system(language: str) -> None:
    """The system's own fallback is used."""
    assert families_for(language, "Segoe UI") == ()


@pytest.mark.usefixtures("font_again")
def test_a_window_takes_them_on_and_off(qtbot: QtBot, qapp: QApplication) -> None:
    """Fonts apply also to sizes of the style sheet; another language restores the system font."""
    systems = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont).families()

    def worn(language: str) -> QFont:
        apply_fonts(qapp, language)
        label = QLabel("直骨门")
        qtbot.addWidget(label)
        label.ensurePolished()
        return label.font()

    assert worn("de").families() == systems
    assert "Noto Sans CJK SC" in worn("zh_CN").families()
    assert worn("zh_CN").pixelSize() == worn("de").pixelSize() > 0
    assert worn("de").families() == qapp.font().families() == systems
