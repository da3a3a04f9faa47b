"""Parts of image files: texts, boxes clipped at the edges, invalid ones."""

import math
import random

import pytest

from engine.errors import InputError
from engine.file_parts import WHOLE, BoundingBox, FilePart, file_part, part_content, picture_part


@pytest.mark.parametrize(
    "text",
    [
        "",
        "page=3",
        "t=12.5",
        "xywh=percent:25,10,50,30",
        "page=2&xywh=percent:0,0,100,100",
        "thing=2",
    ],
)
def test_a_text_names_a_part_and_a_part_its_text(text: str) -> None:
    assert file_part(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        "page=0",
        "page=-1",
        "t=-1",
        "t=nan",
        "xywh=1,2,3,4",
        "xywh=percent:1,2,3",
        "&page=1",
        "page=1&",
        "thing=0",
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="names no part"):
        file_part(text)


def test_boxes_are_cut_off_at_the_edges() -> None:
    assert BoundingBox.of(-0.1, 0.5, 0.3, 0.9) == BoundingBox(0.0, 0.5, 0.2, 0.5)


@pytest.mark.parametrize(
    "box", [(1.2, 0, 0.1, 0.1), (0, 0, 0, 1), (0, 0, -0.2, 1), (math.nan, 0, 1, 1)]
)
def test_what_is_no_box_in_the_picture_is_refused(box: tuple[float, float, float, float]) -> None:
    with pytest.raises(InputError, match="this is not a bounding box"):
        BoundingBox.of(*box)


def test_boxes_come_back_from_their_texts_to_a_hundredth_of_a_pixel() -> None:
    draw, size = random.Random(1), (9_999, 6_001)
    for _ in range(300):
        left, top = draw.uniform(0, 9_990), draw.uniform(0, 5_990)
        pixels = left, top, draw.uniform(2, 9_999 - left), draw.uniform(2, 6_001 - top)
        text = FilePart(box=BoundingBox.of_pixels(*pixels, size)).text
        box = file_part(text).box
        assert box is not None
        assert box.in_pixels(size) == pytest.approx(pixels, abs=0.01)
        assert FilePart(box=box).text == text


@pytest.mark.parametrize("picture", ["", "page=3", "t=12.5", "page=3&t=1"])
@pytest.mark.parametrize(
    "within", ["", "xywh=percent:25,10,50,30", "thing=2", "xywh=percent:0,0,1,1&thing=4"]
)
def test_the_picture_of_a_part_is_found_in_its_text(picture: str, within: str) -> None:
    text = "&".join(filter(None, (picture, within)))
    assert picture_part(text) == file_part(text).picture.text == picture


def test_parts_of_a_file_have_contents_of_their_own() -> None:
    file = b"0" * 16
    assert part_content(file, WHOLE) == file
    contents = {part_content(file, text) for text in ("", "page=1", "page=2", "t=1")}
    assert len(contents) == 4
