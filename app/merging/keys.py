"""Keys of the page of conflicts."""

from app.actions.page_keys import PageKey, PageKeys
from app.texts import marked

KEYS = PageKeys(
    "merging",
    marked("Settle conflicts"),
    (
        PageKey("ours", marked("Keep yours"), "1 Left"),
        PageKey("theirs", marked("Take theirs"), "2 Right"),
        PageKey("suggested", marked("Take the suggestion"), "Return Enter"),
        PageKey("other", marked("Another class…"), "R"),
        PageKey("both", marked("Keep both comments"), "B"),
        PageKey("unknown", marked("None of the classes"), "U"),
        PageKey("apart", marked("One by one"), "D"),
        PageKey("later", marked("Later"), "E"),
    ),
)
