"""Short reasons for files that could not be read, made of what the engine really says of such files."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from app.unread import short_reason
from engine.errors import ImageError
from engine.images.decode import read_rgb
from tests.support.images import encoded, picture, write_jpeg
from tests.support.raw_photos import raw_photo


def truncated_jpeg(path: Path) -> None:
    """The first third of a photo."""
    write_jpeg(path, width=400, height=300)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 3])


def damaged_png(path: Path) -> None:
    """The header of a picture and nothing sensible behind it."""
    Image.new("RGB", (60, 40), "red").save(path)
    content = path.read_bytes()
    path.write_bytes(content[:45] + b"\xff" * (len(content) - 45))


@pytest.mark.parametrize(
    ("name", "make", "reason"),
    [
        ("photo.JPG", truncated_jpeg, "Truncated JPEG"),
        ("a.png", damaged_png, "Damaged PNG"),
        ("page.jpg", lambda path: path.write_text("<html>no</html>"), "Not an image: a web page"),
        ("report.jpg", lambda path: path.write_bytes(b"%PDF-1.7 ..."), "Not an image: a PDF document"),
        ("noise.jpg", lambda path: path.write_bytes(b"\x07\x00\xfe\x11" * 30), "Not an image"),
        ("layers.jpg", lambda path: path.write_bytes(b"8BPS" + b"\x00" * 40), "Not supported: a Photoshop document"),
        ("a.heic", lambda path: path.write_bytes(encoded(picture(), "HEIF")[:300]), "Damaged HEIC"),
        ("a.NEF", lambda path: path.write_bytes(raw_photo("NEF")), "RAW photo without a preview"),
        ("none.jpg", lambda path: path.write_bytes(b""), "Empty file"),
        ("folder.jpg", lambda path: path.mkdir(), "A folder, not an image"),
        ("gone.jpg", lambda _path: None, "File not found"),
    ],
)
def test_the_reason_fits_on_a_card(tmp_path: Path, name: str, make: Callable[[Path], object], reason: str) -> None:
    """Each is a real file, and the engine's own line about it."""
    path = tmp_path / name
    make(path)
    with pytest.raises(ImageError) as raised:
        read_rgb(path)
    assert short_reason(str(raised.value), name) == reason


def test_what_nobody_foresaw_is_told_as_it_is() -> None:
    """Without what was expected, what was found, and what to do."""
    assert short_reason("the moon is full: found it so. Wait a little", "a.png") == "The moon is full"
