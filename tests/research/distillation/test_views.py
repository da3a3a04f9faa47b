"""Views of photos for teacher and student."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.errors import UsageError
from research.distillation.views import PhotoSource, drawn_photos, views


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two class folders of five photos, brighter to the right."""
    ramp = np.broadcast_to(np.arange(0, 240, 4, dtype=np.uint8)[None, :, None], (40, 60, 3))
    for name in ("basil", "mint"):
        (tmp_path / name).mkdir()
        for number in range(5):
            Image.fromarray(ramp).save(tmp_path / name / f"{number}.png")
    return tmp_path


def test_so_many_photos_of_each_class_so_many_times(folder: Path) -> None:
    """The same draw for the same seed; all photos where no number is given."""
    sources = [PhotoSource.of(f"{folder}:3:2"), PhotoSource.of(str(folder / "mint"))]
    paths = drawn_photos(sources, np.random.default_rng(0))
    assert len(paths) == 2 * 3 * 2 + 5
    assert len({path for path in paths if path.parent.name == "basil"}) == 3
    assert len({path for path in paths if path.parent.name == "mint"}) == 5
    assert drawn_photos(sources, np.random.default_rng(0)) == paths != sorted(paths)


def test_both_see_the_same_part(folder: Path) -> None:
    """On a photo that gets brighter to the right, both views have the same brightness."""
    seen = list(views([folder / "mint" / "0.png"] * 20, (24, 12), np.random.default_rng(0)))
    reaches = []
    for large, small in seen:
        assert (large.shape, small.shape) == ((24, 24, 3), (12, 12, 3))
        assert float(large.mean()) == pytest.approx(float(small.mean()), abs=1)
        reaches.append(int(large[0, -1, 0]) - int(large[0, 0, 0]))
    assert 60 < min(reaches) < max(reaches) < 200


def test_a_source_that_is_not_understood() -> None:
    """At most two numbers."""
    assert PhotoSource.of("photos:120") == PhotoSource(Path("photos"), photos=120)
    for text in ("photos:many", "photos:1:2:3"):
        with pytest.raises(UsageError, match="source"):
            PhotoSource.of(text)
