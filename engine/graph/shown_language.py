"""The display language of class names, one for the process like that of messages.

The window chooses it. Reports and drawings have these names, too; the command line, workers and all
other files have those in the project.
"""

AS_IN_PROJECT = ""
_language = [AS_IN_PROJECT]


def show_names_in(language: str) -> None:
    """Display class names in a language, such as "pt-BR", if known; `AS_IN_PROJECT`: none."""
    _language[:] = [language]


def shown_language() -> str:
    """The language that names are shown in."""
    return _language[0]
