"""Which page of the user guide tells of a part of the window: said by the part, asked for by the help key."""

from typing import Final

from PySide6.QtWidgets import QWidget

_PROPERTY: Final = "guidePage"


def set_guide_page(part: QWidget, page: str) -> None:
    """Say which page tells of a part and all in it, such as `backbones` or `backbones#training`."""
    part.setProperty(_PROPERTY, page)


def guide_page_of(part: QWidget | None) -> str:
    """The page of a part, or of the nearest one around it that has any; empty where none has."""
    while part is not None:
        page = part.property(_PROPERTY)
        if page:
            return str(page)
        part = part.parentWidget()
    return ""
