"""The interface language: the chosen one, else the system's first supported one, else English."""

import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from PySide6.QtCore import QCollator, QCoreApplication, QLibraryInfo, QLocale, Qt, QTranslator
from PySide6.QtGui import QGuiApplication

from app.key_names import name_keys
from app.texts import speak
from engine.collation import Key, collate_with
from engine.graph.shown_language import AS_IN_PROJECT, show_names_in

TRANSLATIONS = Path(__file__).parents[1] / "assets" / "translations"
LANGUAGE_VARIABLE = "PROTOLEAF_LANGUAGE"
"""Overrides the chosen language: a code, or a compiled translation file such as the
pseudo-language's."""
SYSTEM = ""
ENGLISH = "en"
_PREFIX = "protoleaf_"
# Languages whose name in Qt has a superfluous country, or lacks one.
_NAMES: Mapping[str, str] = {
    ENGLISH: "English",
    "es": "Español",
    "pt_BR": "Português (Brasil)",
}
_of_qt: list[QTranslator] = []
_spoken = [ENGLISH]


@cache
def language_names() -> dict[str, str]:
    """Native names of the supported languages, by code, sorted by name."""
    codes = [
        ENGLISH,
        *(path.stem.removeprefix(_PREFIX) for path in TRANSLATIONS.glob(f"{_PREFIX}*.qm")),
    ]
    names = {code: name_of_language(code) for code in codes}
    return dict(sorted(names.items(), key=lambda each: each[1].casefold()))


def name_of_language(code: str) -> str:
    """The native name of a language."""
    name = QLocale(code).nativeLanguageName()
    return _NAMES.get(code, name[:1].upper() + name[1:])


def fitting_language(wanted: Iterable[str]) -> str:
    """The code of the first supported language in a list of wanted ones such as `de-AT`.

    The script must match, too. English where none is supported.
    """
    for each in wanted:
        locale = QLocale(each)
        for code in sorted(language_names(), key=lambda code: code != locale.name()):
            there = QLocale(code)
            if (there.language(), there.script()) == (locale.language(), locale.script()):
                return code
    return ENGLISH


def install_language(
    application: QCoreApplication, chosen: str = SYSTEM, *, has_project_names: bool = False
) -> None:
    """Switch the interface language, with its number and date formats.

    Open windows keep their texts.

    Args:
        chosen: language code, or `SYSTEM`; `LANGUAGE_VARIABLE` overrides it.
        has_project_names: whether classes have their project names, not those in the language.
    """
    system, wanted = QLocale.system(), os.environ.get(LANGUAGE_VARIABLE, "") or chosen
    if wanted.endswith(".qm"):
        _install(application, Path(wanted), None)
        show_names_in(AS_IN_PROJECT)
        return
    code = fitting_language([wanted] if wanted else system.uiLanguages())
    # The system's own formats, such as those of Austria, where the language is the same.
    own = QLocale(code)
    is_the_systems = (own.language(), own.script()) == (system.language(), system.script())
    locale = system if is_the_systems else own
    _install(application, TRANSLATIONS / f"{_PREFIX}{code}.qm", locale)
    # Names follow the system's language even where the interface is not translated into it.
    of_names = system if not wanted and system.name() != "C" else locale
    show_names_in(AS_IN_PROJECT if has_project_names else of_names.bcp47Name())


def _install(application: QCoreApplication, file: Path, locale: QLocale | None) -> None:
    """Install a translation file and the layout direction of its language.

    Args:
        application: receives Qt's own translations, too.
        file: compiled translations; English where it does not exist.
        locale: of numbers and dates; None for that of the file's language, else the system's.
    """
    while _of_qt:
        application.removeTranslator(_of_qt.pop())
    translator = QTranslator(application)
    is_there = translator.load(str(file))
    own = translator.language()  # empty for English and the pseudo-language
    if locale is None:
        locale = QLocale(own) if own else QLocale.system()
    QLocale.setDefault(locale)
    collate_with(name_key(locale))
    speak(translator if is_there else None)
    _spoken[:] = [file.stem.removeprefix(_PREFIX) if is_there else ENGLISH]
    QGuiApplication.setLayoutDirection(QLocale(own or ENGLISH).textDirection())
    of_qt = QTranslator(application)
    if of_qt.load(
        locale, "qtbase", "_", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    ):
        application.installTranslator(of_qt)
        _of_qt.append(of_qt)
    name_keys(application)


def name_key(locale: QLocale) -> Key:
    """A sort key by a language's collation: Swedish Å after Z, "Leaf 9" before "leaf 10"."""
    # Without a language, as in a C locale, Qt compares code points.
    collator = QCollator(QLocale(ENGLISH) if locale.language() == QLocale.Language.C else locale)
    collator.setNumericMode(True)
    collator.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
    collator.sortKey("")  # loads its tables in this thread, before background threads sort
    return collator.sortKey


def spoken_language() -> str:
    """Code of the current interface language."""
    return _spoken[0]


def speak_on_command_line(wanted: str) -> None:
    """Translate messages of the engine into a language such as `de` or `de_AT.UTF-8`.

    English where it is not supported.
    """
    translator = QTranslator()
    code = fitting_language([wanted.partition(".")[0]])
    speak(translator if translator.load(str(TRANSLATIONS / f"{_PREFIX}{code}.qm")) else None)
