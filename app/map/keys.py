"""Keyboard shortcuts of the map."""

from app.actions.page_keys import PageKey, PageKeys
from app.texts import marked

KEYS = PageKeys(
    "map",
    marked("Map"),
    (
        PageKey("lasso", marked("Lasso"), "L"),
        PageKey("larger", marked("Zoom in"), "+ ="),
        PageKey("smaller", marked("Zoom out"), "-"),
        PageKey("fit", marked("Show all"), "0"),
        PageKey("label", marked("Label the selected images as…"), "R"),
        PageKey("show_in_grid", marked("Show the selected images in the grid"), "Return Enter"),
        PageKey("select_all", marked("Select all in view"), "A"),
    ),
)
