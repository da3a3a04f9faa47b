"""Words that the panels share, in the person's language and number format."""

from PySide6.QtCore import QLocale

from app.texts import fill, translate


def share(value: float) -> str:
    """`57.1 %`."""
    return fill(translate("side_panel", "%1 %"), QLocale().toString(100 * value, "f", 1))
