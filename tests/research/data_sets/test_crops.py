from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.errors import FormatError, InputError
from research.data_sets.crops import write_crops
from tests.support.command_line import done

BOXES = (
    ("Red/cell", (10, 20, 40, 60)),  # grows on all sides
    ("White", (0, 0, 12, 90)),  # grows to the right
    ("White", (95, 50, 100, 70)),  # nine pixels of it remain
)


def write_photos(folder: Path, count: int = 4) -> Path:
    """Grey photos of 100 by 90 pixels with these boxes; the red cell is red."""
    for part in ("Annotations", "JPEGImages"):
        (folder / part).mkdir(parents=True)
    pixels = np.full((90, 100, 3), 128, dtype=np.uint8)
    pixels[20:60, 10:40] = (250, 0, 0)
    things = "".join(
        "<object><name>{}</name><bndbox><xmin>{}</xmin><ymin>{}.0</ymin><xmax>{}</xmax><ymax>{}</ymax></bndbox></object>".format(
            name, *box
        )
        for name, box in BOXES
    )
    for number in range(count):
        Image.fromarray(pixels).save(folder / "JPEGImages" / f"{number}.jpg")
        (folder / "Annotations" / f"{number}.xml").write_text(
            f"<annotation>{things}</annotation>", encoding="utf-8"
        )
    return folder


def test_crops_of_all_photos(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every third photo is in train; boxes grow to the edge at most; small ones are left out."""
    photos, out = write_photos(tmp_path / "photos"), tmp_path / "out"
    fields = done(capsys, "experiment", "crops", photos, "--out", out, "--json").fields
    assert fields == {"train": {"Red/cell": 2, "White": 2}, "val": {"Red/cell": 2, "White": 2}}
    paths = sorted(path.relative_to(out).as_posix() for path in out.rglob("*.jpg"))
    assert paths == [
        "train/Red_cell/0-0.jpg",
        "train/Red_cell/3-0.jpg",
        "train/White/0-1.jpg",
        "train/White/3-1.jpg",
        "val/Red_cell/1-0.jpg",
        "val/Red_cell/2-0.jpg",
        "val/White/1-1.jpg",
        "val/White/2-1.jpg",
    ]
    with Image.open(out / "train" / "Red_cell" / "0-0.jpg") as crop:
        assert crop.size == (38, 48)
        assert np.abs(np.array(crop)[20, 15].astype(int) - (250, 0, 0)).max() < 12
    with Image.open(out / "val" / "White" / "1-1.jpg") as crop:
        assert crop.size == (16, 90)


def test_refuses_what_has_no_boxes(tmp_path: Path) -> None:
    """A folder without annotations and an object without box or name leave no files."""
    out = tmp_path / "out"
    with pytest.raises(InputError, match="has no annotations"):
        write_crops(tmp_path, out)
    photos = write_photos(tmp_path / "photos", count=1)
    for broken, reason in (
        ("<object><name>a</name></object>", "without a box"),
        ("<object><bndbox>", "not an XML file"),
    ):
        (photos / "Annotations" / "0.xml").write_text(
            f"<annotation>{broken}</annotation>", encoding="utf-8"
        )
        with pytest.raises(FormatError, match=reason):
            write_crops(photos, out)
        assert not out.exists()
