"""The language that people see the names of classes in, one for the process as that of messages (`engine.texts`).

The window chooses it. Reports and drawings have these names, too; the command line, workers and all other files have
those in the project.
"""

from typing import Final

AS_IN_PROJECT: Final = ""
_language: Final = [AS_IN_PROJECT]


def show_names_in(language: str) -> None:
    """Show names in a language, such as "pt-BR", from now on where classes have one; `AS_IN_PROJECT` for their own."""
    _language[:] = [language]


def shown_language() -> str:
    """The language that names are shown in."""
    return _language[0]
