"""Pages of TIFF and MPO files, without reduced copies."""

import struct
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.errors import ImageError
from engine.file_parts import FilePart
from engine.images import multi_page
from engine.images.decode import decode_rgb
from engine.images.multi_page import page_data
from engine.images.parts_of_file import open_file_parts, parts_of
from tests.support.images import (
    encoded,
    exif_with_orientation,
    four_corners,
    picture,
    stored_turned,
    write_jpeg,
)

WIDTH, HEIGHT, SUBFILE, OLD_SUBFILE, TILE_WIDTH = 256, 257, 254, 255, 322


def directories(*tags: dict[int, int], order: str = "<") -> bytes:
    """A TIFF of directories only, with values of four bytes."""
    made = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "I", 8)
    for number, each in enumerate(tags, start=1):
        made += struct.pack(order + "H", len(each))
        made += b"".join(
            struct.pack(order + "HHII", tag, 4, 1, value) for tag, value in sorted(each.items())
        )
        made += struct.pack(order + "I", len(made) + 4 if number < len(tags) else 0)
    return made


def size(width: int, height: int, **others: int) -> dict[int, int]:
    names = {"subfile": SUBFILE, "old_subfile": OLD_SUBFILE, "tile": TILE_WIDTH}
    return {WIDTH: width, HEIGHT: height, **{names[name]: value for name, value in others.items()}}


def texts(path: Path) -> list[str]:
    return [part.text for part in parts_of(path)]


def test_every_page_has_its_pixels(tmp_path: Path) -> None:
    """Of any size, colour and compression, rotated by its own directory."""
    pages = [picture(seed=0), picture(40, 60, seed=1), picture(seed=2)[..., 0]]
    images = [Image.fromarray(each) for each in pages]
    path = tmp_path / "scan.tif"
    path.write_bytes(
        encoded(images[0], "TIFF", save_all=True, append_images=images[1:], compression="tiff_lzw")
    )
    assert texts(path) == ["page=1", "page=2", "page=3"]
    with open_file_parts(path) as opened:
        for number in (2, 1, 3):
            expected = (
                pages[number - 1] if number < 3 else np.repeat(pages[2][..., None], 3, axis=2)
            )
            assert np.array_equal(opened.rgb(FilePart(page=number)), expected)
        assert np.array_equal(opened.rgb(FilePart()), pages[0])
        assert opened.rgb(FilePart(page=2), longest_side=30).shape == (30, 20, 3)
        assert (
            opened.details(FilePart(page=2)).width,
            opened.details(FilePart(page=2)).height,
        ) == (40, 60)
        with pytest.raises(
            ImageError, match="the file has no such page: expected a page from 1 to 3, found 4"
        ):
            opened.rgb(FilePart(page=4))


@pytest.mark.slow
def test_a_turned_page(tmp_path: Path) -> None:
    corners = four_corners()
    turned = Image.fromarray(stored_turned(corners, 6))
    exif = exif_with_orientation(6)
    data = encoded(turned, "TIFF", save_all=True, append_images=[turned], exif=exif)
    assert np.array_equal(decode_rgb(page_data(data, 1)), corners)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("tags", "pages"),
    [
        ([size(100, 80)], 1),
        ([size(100, 80), size(90, 80)], 2),
        ([size(100, 80), size(50, 40)], 2),  # a scan with a lower resolution
        ([size(100, 80), size(50, 40, subfile=1)], 1),
        ([size(100, 80), size(100, 80, subfile=4)], 1),  # a mask
        ([size(100, 80), size(50, 40, old_subfile=2), size(100, 80, subfile=2)], 2),
        (
            [size(1000, 801, tile=16), size(500, 401, tile=16), size(250, 201, tile=16)],
            1,
        ),  # a pyramid
        ([size(1000, 800, tile=16), size(333, 266, tile=16)], 2),
        ([size(0, 0, tile=16), size(0, 0, tile=16)], 2),
    ],
)
def test_smaller_copies_are_no_pages(
    tmp_path: Path, tags: list[dict[int, int]], pages: int, order: str
) -> None:
    """By their directories; levels of a pyramid also by size."""
    path = tmp_path / "a.tif"
    path.write_bytes(directories(*tags, order=order))
    expected = [f"page={page}" for page in range(1, pages + 1)] if pages > 1 else [""]
    assert texts(path) == expected


def test_pages_are_numbered_without_smaller_copies() -> None:
    """Reduced copies are not counted."""
    data = directories(size(100, 80), size(10, 8, subfile=1), size(90, 70))
    second = page_data(data, 2)
    at = int.from_bytes(second[4:8], "little")
    assert size(90, 70) == {
        tag: value for tag, _, _, value in struct.iter_unpack("<HHII", second[at + 2 : at + 2 + 24])
    }


def test_too_many_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.tif"
    path.write_bytes(directories(*[size(9, 9)] * 5))
    monkeypatch.setattr(multi_page, "MOST_PAGES", 4)
    with pytest.raises(
        ImageError, match=r"the file has too many pages: expected at most 4\. Split"
    ):
        parts_of(path)


def mpo(second: Image.Image, attributes: int) -> bytes:
    """An MPO of two JPEGs; Pillow does not read the type of the second."""
    first = Image.fromarray(picture(64, 48, seed=0))
    data = encoded(first, "MPO", save_all=True, append_images=[second], quality=95)
    index = data.index(b"MPF\0") + 4
    at = data.index(struct.pack("<HHI", 0xB002, 7, 32), index) + 8
    entry = index + int.from_bytes(data[at : at + 4], "little") + 16
    return data[:entry] + struct.pack("<I", attributes) + data[entry + 4 :]


@pytest.mark.parametrize(
    ("second", "attributes", "pages"),
    [
        ((64, 48), 0x020002, 2),  # the other image of a stereo pair
        ((64, 48), 0x020003, 2),  # another angle
        ((64, 48), 0x000000, 1),  # such as a gain map
        ((32, 24), 0x010001, 1),  # a preview
        ((32, 24), 0x020002, 1),
    ],
)
def test_the_second_picture_of_an_mpo(
    tmp_path: Path, second: tuple[int, int], attributes: int, pages: int
) -> None:
    """A full picture is a page; previews and gain maps are none."""
    other = Image.fromarray(picture(*second, seed=1))
    path = tmp_path / "a.jpg"
    path.write_bytes(mpo(other, attributes))
    assert texts(path) == (["page=1", "page=2"] if pages > 1 else [""])
    with open_file_parts(path) as opened:
        assert np.abs(opened.rgb(FilePart()).astype(int) - picture(64, 48, seed=0)).max() <= 20
        if pages > 1:
            pixels = opened.rgb(FilePart(page=2))
            assert np.abs(pixels.astype(int) - picture(64, 48, seed=1)).max() <= 20


@pytest.mark.slow
def test_damaged_indexes(tmp_path: Path) -> None:
    """Truncated or with changed bytes: pages or an `ImageError`."""
    generator = np.random.default_rng(2)
    tiff = encoded(
        Image.fromarray(picture()),
        "TIFF",
        save_all=True,
        append_images=[Image.fromarray(picture())],
    )
    stereo = mpo(Image.fromarray(picture(64, 48, seed=1)), 0x020002)
    for data, name in ((tiff, "a.tif"), (stereo, "a.jpg")):
        path = tmp_path / name
        for _ in range(60):
            damaged = bytearray(data)
            for place in generator.integers(0, min(1000, len(data)), 4):
                damaged[place] = generator.integers(256)
            path.write_bytes(damaged[: generator.integers(1, len(data))])
            with suppress(ImageError), open_file_parts(path) as opened:
                for part in parts_of(path)[:3]:
                    assert opened.rgb(part).shape[2] == 3


def test_a_plain_image_is_whole(tmp_path: Path) -> None:
    """It has no parts besides the file."""
    path = write_jpeg(tmp_path / "a.jpg")
    assert parts_of(path) == [FilePart()]
    with open_file_parts(path) as opened:
        assert np.array_equal(opened.rgb(FilePart()), decode_rgb(path.read_bytes()))
