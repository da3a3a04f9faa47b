"""Images that are parts of one file."""

from engine.collection.folding.partitions import items_by_file, pictures_with_boxes

BOX = "xywh=percent:10,10,20,20"


def test_files_with_several_images_are_found() -> None:
    """Only files with more than one image are listed."""
    paths, parts = ["a", "b", "a", "c", "d"], ["", "", BOX, "page=1", ""]
    assert items_by_file(range(1, 6), paths, parts) == {"a": {1: "", 3: BOX}}
    assert items_by_file([1, 2], ["a", "b"], ()) == {}


def test_pictures_with_boxes_are_the_pages_that_they_are_on() -> None:
    items = {1: "", 2: "page=1", 3: "page=2", 4: f"page=2&{BOX}", 5: "page=1&thing=2"}
    assert pictures_with_boxes(items) == [3]
    assert pictures_with_boxes({1: "", 2: BOX, 3: "thing=2"}) == [1]
