"""Pages of TIFF files are counted, without reduced copies and RAW photos."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.images.decode import read_rgb
from engine.images.photo_facts import page_count
from tests.support.images import encoded, picture, write_jpeg
from tests.support.raw_photos import raw_photo


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """A TIFF of three pages."""
    frames = [Image.fromarray(picture(seed=seed)) for seed in range(3)]
    path = tmp_path / "scan.tif"
    path.write_bytes(encoded(frames[0], "TIFF", save_all=True, append_images=frames[1:]))
    return path


def test_the_first_page_is_shown(pages: Path) -> None:
    """The number of pages is reported."""
    assert page_count(pages) == 3
    assert np.array_equal(read_rgb(pages), picture(seed=0))


def test_what_has_no_pages(tmp_path: Path) -> None:
    """A single TIFF, another format, a RAW photo of many directories, a missing file."""
    (tmp_path / "a.tif").write_bytes(encoded(picture(), "TIFF"))
    (tmp_path / "b.tif").write_bytes(
        raw_photo("CR2", encoded(picture(900, 600), "JPEG"), encoded(picture(), "JPEG"))
    )
    for path in (
        tmp_path / "a.tif",
        tmp_path / "b.tif",
        write_jpeg(tmp_path / "c.jpg"),
        tmp_path / "gone",
        tmp_path,
    ):
        assert page_count(path) == 1


def test_pages_without_end(pages: Path) -> None:
    """Cyclic and truncated chains of directories are counted as far as they go."""
    data = pages.read_bytes()
    first = int.from_bytes(data[4:8], "little")
    link = (
        first + 2 + 12 * int.from_bytes(data[first : first + 2], "little")
    )  # offset of the next directory
    pages.write_bytes(data[:link] + data[4:8] + data[link + 4 :])
    assert page_count(pages) == 1
    for length in range(0, len(data), 97):
        pages.write_bytes(data[:length])
        assert 1 <= page_count(pages) <= 3
