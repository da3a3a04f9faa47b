"""Keyboard shortcuts of the compare pages."""

from app.actions.page_keys import PageKey, PageKeys
from app.texts import marked

KEYS = PageKeys(
    "compare",
    marked("Compare images"),
    (
        PageKey("lock", marked("Lock or unlock zoom and place"), "L"),
        PageKey("larger", marked("Zoom in"), "="),
        PageKey("smaller", marked("Zoom out"), "-"),
        PageKey("fit", marked("Fit to the window"), "0"),
        PageKey("actual_size", marked("Actual size"), "Z"),
        PageKey("previous", marked("Previous image"), "PgUp"),
        PageKey("next", marked("Next image"), "PgDown"),
    ),
    with_images=True,
)
