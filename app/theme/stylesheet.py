"""The look as one Qt style sheet: the template `assets/themes/window.qss`, filled with tokens."""

from functools import lru_cache
from string import Template

from app.theme.tokens import Tokens
from engine.config import assets_folder


@lru_cache(maxsize=1)
def _template() -> Template:
    return Template((assets_folder() / "themes" / "window.qss").read_text(encoding="utf-8"))


def make_stylesheet(look: Tokens) -> str:
    """The style sheet of a look.

    Raises:
        KeyError: the template asks for a token that does not exist.
    """
    drawings = (assets_folder() / "themes" / look.scheme.value).as_posix()
    return _template().substitute(look.names(), drawings=drawings)
