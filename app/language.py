"""The language of the window: the system's, where `assets/translations` has it; Qt's own texts are in the same one."""

import os
from pathlib import Path
from typing import Final

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from app.texts import speak

TRANSLATIONS: Final = Path(__file__).parents[1] / "assets" / "translations"
LANGUAGE_VARIABLE: Final = "PROTOLEAF_LANGUAGE"
"""Names another language than the system's, or a compiled file of translations, as of the pseudo-language."""


def install_language(application: QCoreApplication) -> None:
    """Speak the first of the person's languages that there is; English where there is none."""
    wanted = os.environ.get(LANGUAGE_VARIABLE, "")
    is_file = wanted.endswith(".qm")
    locale = QLocale(wanted) if wanted and not is_file else QLocale()
    translator = QTranslator(application)
    is_there = translator.load(wanted) if is_file else translator.load(locale, "protoleaf", "_", str(TRANSLATIONS))
    if not is_there:
        return
    speak(translator)
    of_qt = QTranslator(application)
    if of_qt.load(locale, "qtbase", "_", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
        application.installTranslator(of_qt)
