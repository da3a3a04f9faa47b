"""Objects in photos: crops, draws of shots, and `protoleaf experiment objects`."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.errors import InputError
from research.objects.boxed_photos import crop_square, read_boxed_photos
from research.objects.measurement import CROP, EVERYDAY, WHOLE, draw_objects
from tests.support.command_line import done
from tests.support.detector_networks import picture_of_discs

SIZE = (160, 120)
RADIUS = 14


def write_boxed_photos(folder: Path, count: int = 14) -> Path:
    """Photos of a white and a red disc at varying positions, with their annotations."""
    folder.mkdir()
    generator = np.random.default_rng(0)
    for number in range(count):
        rows = generator.integers(RADIUS + 2, SIZE[1] - RADIUS - 2, 2)
        columns = generator.integers(RADIUS + 2, 60), generator.integers(80, SIZE[0] - RADIUS - 2)
        discs = [
            (float(columns[at]), float(rows[at]), RADIUS, (at + number) % 2 == 0) for at in range(2)
        ]
        Image.fromarray(picture_of_discs(SIZE, discs)).save(folder / f"{number:02}.jpg")
        things = "".join(
            f"<object><name>{'red' if is_red else 'white'}</name><bndbox>"
            f"<xmin>{column - radius:g}</xmin><ymin>{row - radius:g}</ymin>"
            f"<xmax>{column + radius:g}</xmax><ymax>{row + radius:g}</ymax></bndbox></object>"
            for column, row, radius, is_red in discs
        )
        (folder / f"{number:02}.xml").write_text(
            f"<annotation>{things}</annotation>", encoding="utf-8"
        )
    return folder


def test_squares_around_boxes() -> None:
    """By the longer side, moved inside, at most the size of the photo."""
    pixels = np.arange(60 * 100 * 3, dtype=np.uint32).reshape(60, 100, 3)

    def place(edges: tuple[int, int, int, int], margin: float) -> tuple[int, int, int]:
        square = crop_square(pixels, edges, margin)  # type: ignore[arg-type]
        assert square.shape[0] == square.shape[1]
        return int(square[0, 0, 0]) // 3 % 100, int(square[0, 0, 0]) // 300, len(square)

    assert place((40, 20, 60, 30), 1.0) == (40, 15, 20)
    assert place((40, 20, 60, 30), 1.2) == (38, 13, 24)
    assert place((0, 0, 20, 10), 1.2) == (0, 0, 24)
    assert place((80, 50, 100, 60), 1.2) == (76, 36, 24)
    assert place((10, 10, 90, 50), 1.2) == (20, 0, 60)


def test_no_two_shots_of_one_photo() -> None:
    """Objects of a photo with a shot are not scored; a class in too few photos is refused."""
    photos = np.repeat(np.arange(8), 3)
    class_ids = np.array([1, 2, 2] * 6 + [2, 2, 2] * 2)
    for seed in range(20):
        drawn = draw_objects(photos, class_ids, 3, seed)
        assert np.bincount(class_ids[drawn.shots]).tolist() == [0, 3, 3]
        assert len(set(photos[drawn.shots].tolist())) == 6
        assert set(photos[drawn.scored].tolist()) == set(range(8)) - set(
            photos[drawn.shots].tolist()
        )
    with pytest.raises(InputError, match="too few photos"):
        draw_objects(photos, class_ids, 7, 0)


@pytest.mark.slow
def test_the_things_in_photos(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Photos of both classes are ambiguous; crops are not."""
    source, out = write_boxed_photos(tmp_path / "discs"), tmp_path / "figures.json"
    words = (
        "experiment",
        "objects",
        source,
        "--backbone",
        "leafnet",
        "--device",
        "cpu",
        "--draws",
        "2",
    )
    text = done(
        capsys, *words, "--shots", "2", "--margin", "1.2", "--margin", "1.5", "--out", out
    ).out
    assert "discs, 28 objects of 14 photos, leafnet, 2 draws" in text
    outcomes = json.loads(out.read_text(encoding="utf-8"))["outcomes"]
    balanced = {(each["method"], each["margin"]): np.mean(each["balanced"]) for each in outcomes}
    assert balanced.keys() == {
        (WHOLE, 0.0),
        (CROP, 1.2),
        (EVERYDAY, 1.2),
        (CROP, 1.5),
        (EVERYDAY, 1.5),
    }
    assert balanced[CROP, 1.2] > 0.95
    assert balanced[WHOLE, 0.0] == pytest.approx(0.5, abs=0.01)


def test_what_is_taken_of_a_set(tmp_path: Path) -> None:
    """The first photos, and the first objects of each class in a photo; one class is refused."""
    source = write_boxed_photos(tmp_path / "discs", 4)
    assert len(read_boxed_photos(source, photos=3).photos) == 3
    for file in source.glob("*.xml"):
        file.write_text(file.read_text(encoding="utf-8").replace("white", "red"), encoding="utf-8")
    with pytest.raises(InputError, match="nothing to tell apart"):
        read_boxed_photos(source, objects=1)
