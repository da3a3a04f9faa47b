"""Theme of the window.

`apply_theme(application)` installs it, `set_scheme("dark")` switches it.
"""

from app.theme.fonts import apply_fonts
from app.theme.scheme import SchemeChoice, Theme, apply_theme, set_scheme, theme_of

__all__ = ["SchemeChoice", "Theme", "apply_fonts", "apply_theme", "set_scheme", "theme_of"]
