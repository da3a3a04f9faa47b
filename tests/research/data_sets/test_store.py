"""Writing the folder of a data set."""

import errno
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import InputError, StorageError
from engine.events import CancelToken, ignore_progress
from research.data_sets.build import build
from research.data_sets.sampling import DrawnImages
from research.data_sets.source import open_source
from research.data_sets.store import write_data_set
from research.data_sets.stored import load
from tests.support.images import encoded
from tests.support.small_imagenet import RECIPE, key, write_small_imagenet

FACTS: dict[str, Any] = {
    "name": "WS-Test",
    "variant": "pure",
    "side": 8,
    "class_keys": ["a", "b"],
    "class_names": ["a", "b"],
    "levels": [6, 7],
    "edges": [[0, 1]],
    "training_few_shot": [1],
    "test_few_shot": [],
}


def write(source_folder: Path, out: Path, *, fewest: int = 1) -> None:
    """Write the images of a source, all as class b."""
    with open_source(source_folder) as source:
        count = len(source.names)
        drawn = DrawnImages(
            np.arange(count), np.ones(count, dtype=np.int64), np.zeros(count, dtype=np.bool_)
        )
        least = np.array([0, fewest])
        token = CancelToken()
        write_data_set(
            out,
            FACTS,
            source,
            drawn,
            side=8,
            fewest=least,
            on_progress=ignore_progress,
            cancel=token,
        )


@pytest.fixture
def twelve(tmp_path: Path) -> Path:
    """A source of twelve images, the second of which is a text file."""
    folder = write_small_imagenet(tmp_path / "twelve", names=["kind0"], images=12)
    (folder / "train" / key("kind0") / f"{key('kind0')}_1.JPEG").write_text(
        "no picture", encoding="utf-8"
    )
    return folder


def test_an_unreadable_image_is_listed_and_leaves_no_gap(twelve: Path, tmp_path: Path) -> None:
    """Eleven images are written; the other is listed with the reason."""
    write(twelve, tmp_path / "out")
    data = load(tmp_path / "out")
    assert data.pixels.shape == (11, 8, 8, 3)
    assert data.class_positions.tolist() == [1] * 11
    assert len(data.unreadable) == 1
    assert data.unreadable[0].startswith(
        f"train/{key('kind0')}/{key('kind0')}_1.JPEG: this is not an image"
    )
    assert (
        data.pixels.reshape(11, -1, 3).std(axis=1) < 3
    ).all()  # each image has one colour: no row is corrupt
    assert (data.pixels.reshape(11, -1).max(axis=1) > 0).all()


def test_too_many_unreadable_images_are_refused(twelve: Path, tmp_path: Path) -> None:
    """A class with too few readable images stops the build; no files are left."""
    with pytest.raises(
        InputError, match=r"expected 12 or more readable ones, found 11 of 12, and train/"
    ):
        write(twelve, tmp_path / "out", fewest=12)
    assert [path.name for path in tmp_path.iterdir()] == ["twelve"]


def test_the_centre_is_cut_out(tmp_path: Path) -> None:
    """A wide image keeps its middle, without the red at both ends."""
    wide = np.zeros((16, 48, 3), dtype=np.uint8)
    wide[:, :, 0] = 255
    wide[:, 16:32] = (0, 0, 255)
    path = tmp_path / "source" / key("kind0") / "a.png"
    path.parent.mkdir(parents=True)
    path.write_bytes(encoded(wide, "PNG"))
    write(tmp_path / "source", tmp_path / "out")
    middle = load(tmp_path / "out").pixels[0, :, 1:-1]
    assert (middle == (0, 0, 255)).all()


def test_an_older_data_set_is_replaced_when_the_new_one_is_complete(
    twelve: Path, tmp_path: Path
) -> None:
    """A failed build does not change the older one."""
    out = tmp_path / "out"
    write(twelve, out)
    (out / "marker").touch()
    with pytest.raises(InputError):
        write(twelve, out, fewest=12)
    assert (out / "marker").exists()
    write(twelve, out)
    assert sorted(path.name for path in out.iterdir()) == ["data_set.json", "pixels.npy"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "twelve"]


@pytest.mark.parametrize("content", ['{"format": "another"}', "no JSON"])
def test_another_programs_file_is_not_replaced(twelve: Path, tmp_path: Path, content: str) -> None:
    """A folder that only resembles a data set stays."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "data_set.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match="no data set"):
        write(twelve, out)
    assert (out / "data_set.json").read_text(encoding="utf-8") == content


def test_an_empty_folder_is_filled_and_a_file_is_refused(twelve: Path, tmp_path: Path) -> None:
    """An empty folder may exist already, as in a new mount."""
    (tmp_path / "empty").mkdir()
    write(twelve, tmp_path / "empty")
    assert len(load(tmp_path / "empty").pixels) == 11
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="found a file"):
        write(twelve, tmp_path / "file")


def test_a_full_disk_is_reported_before_and_while_writing(
    small_imagenet: Path, wordnet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both when known before and when noticed while writing; no files are left."""
    usage = shutil.disk_usage(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("shutil.disk_usage", lambda _folder: usage._replace(free=1000))
        with pytest.raises(
            StorageError, match=r"the disk is full: expected 9?.* free, found 1\.0 kB"
        ):
            build(small_imagenet, wordnet, tmp_path / "out", RECIPE, side=8)

    def refuse(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("numpy.lib.format.write_array_header_1_0", refuse)
        with pytest.raises(StorageError, match=r"the disk is full.*Free some space"):
            build(small_imagenet, wordnet, tmp_path / "out", RECIPE, side=8)
    assert [path.name for path in tmp_path.iterdir() if path.name != "cache"] == []
