"""Opening the folder of a data set."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import FormatError, StorageError
from research.data_sets.stored import DATA_FILE, PIXELS_FILE, load
from tests.support.small_imagenet import RECIPE


def change(folder: Path, **facts: Any) -> None:
    """Change fields of the file."""
    path = folder / DATA_FILE
    path.write_text(
        json.dumps({**json.loads(path.read_text(encoding="utf-8")), **facts}), encoding="utf-8"
    )


def test_a_data_set_comes_back(built_once: Path) -> None:
    """Shapes, types and names are as documented."""
    data = load(built_once)
    count, classes = len(data.pixels), len(data.class_keys)
    assert (data.name, data.variant, data.side) == ("WS-ImageNet16-Pure", "pure", 8)
    assert data.pixels.dtype == np.uint8
    assert data.class_positions.shape == data.is_test.shape == (count,)
    assert data.class_positions.dtype == np.int64
    assert data.is_test.dtype == np.bool_
    assert data.edge_index.shape[0] == 2
    assert data.levels.shape == (classes,)
    assert set(data.levels.tolist()) == set(RECIPE.levels)
    assert len(data.class_names) == classes
    assert data.class_names[0] == "substance"
    assert data.unreadable == ()


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    """Without its file, with another file, with invalid JSON."""
    with pytest.raises(StorageError, match=r"data_set\.json"):
        load(tmp_path)
    (tmp_path / DATA_FILE).write_text("[1, 2]", encoding="utf-8")
    with pytest.raises(FormatError, match="is no data set"):
        load(tmp_path)
    (tmp_path / DATA_FILE).write_text('{"format": "protoleaf few-sh', encoding="utf-8")
    with pytest.raises(FormatError, match="damaged or incomplete"):
        load(tmp_path)


def test_a_newer_one_is_refused(built: Path) -> None:
    """The message says to update."""
    change(built, version=2)
    with pytest.raises(FormatError, match=r"newer version.*Update the program"):
        load(built)
    change(built, version="one")
    with pytest.raises(FormatError, match="damaged"):
        load(built)


def test_torn_pixels_are_refused(built: Path) -> None:
    """A truncated file, and a missing one."""
    path = built / PIXELS_FILE
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(FormatError, match=r"pixels\.npy that cannot be read"):
        load(built)
    path.unlink()
    with pytest.raises(FormatError, match=r"pixels\.npy that cannot be read"):
        load(built)


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        ({"side": 9}, "pixels of shape"),
        ({"is_test": [0]}, "parts that do not fit"),
        ({"class_names": []}, "levels and names"),
        ({"test_few_shot": [999]}, "positions of classes"),
        ({"edges": [[-1, 0]]}, "positions of classes"),
        ({"edges": [[5, 0]]}, "deeper level"),
        ({"edges": [[1, 2, 3]]}, "ValueError"),
        ({"levels": "many"}, "ValueError"),
        ({"class_positions": None}, "TypeError"),
    ],
)
def test_facts_that_do_not_fit_are_refused(built: Path, facts: dict[str, Any], found: str) -> None:
    """The message has the inconsistent field."""
    change(built, **facts)
    with pytest.raises(FormatError, match=found):
        load(built)


def test_a_missing_fact_and_shared_few_shot_classes_are_refused(built: Path) -> None:
    """Missing fields are refused, and so are classes in both parts."""
    change(built, test_few_shot=load(built).training_few_shot.tolist()[:1])
    with pytest.raises(FormatError, match="in both parts"):
        load(built)
    path = built / DATA_FILE
    facts = json.loads(path.read_text(encoding="utf-8"))
    del facts["variant"]
    path.write_text(json.dumps(facts), encoding="utf-8")
    with pytest.raises(FormatError, match="variant"):
        load(built)
