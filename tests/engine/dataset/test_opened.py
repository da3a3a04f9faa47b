"""A data set is opened whole or refused, and its embeddings are one array on disk."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from engine.dataset.described_folder import DESCRIPTION
from engine.dataset.manifest import is_data_set, read_manifest, write_manifest
from engine.dataset.opened import DataSet
from engine.errors import FormatError, InputError
from tests.support.data_sets import embedded
from tests.support.images import write_jpeg


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> DataSet:
    """Seven images in two shards, one of them unreadable."""
    folder = tmp_path_factory.mktemp("data set")
    (folder / "photos").mkdir()
    for number in range(6):
        write_jpeg(folder / "photos" / f"{number}.jpg", seed=number)
    (folder / "photos" / "rotten.jpg").write_bytes(b"\xff\xd8\xff nothing")
    return embedded([folder / "photos"], folder / "whole")


@pytest.mark.slow
def test_the_manifest_comes_back(whole: DataSet, tmp_path: Path) -> None:
    """With the backbone's card, and counts."""
    write_manifest(tmp_path, whole.manifest)
    assert read_manifest(tmp_path) == whole.manifest
    assert (whole.manifest.rows, whole.manifest.failed, whole.manifest.shard_count) == (7, 1, 2)
    assert whole.manifest.card.name == "leafnet"
    fields = json.loads((tmp_path / DESCRIPTION).read_text(encoding="utf-8"))
    assert (fields["format"], fields["version"], fields["rows"]) == ("protoleaf data set", 1, 7)
    assert fields["backbone"]["embedding_width"] == whole.manifest.card.embedding_width


@pytest.mark.slow
def test_a_data_set_that_is_not_whole_is_refused(whole: DataSet, tmp_path: Path) -> None:
    """By the shards that are missing, or because no run has finished."""
    write_manifest(tmp_path, whole.manifest)
    (tmp_path / "shards").mkdir()
    (tmp_path / "shards" / "0000001.parquet").touch()
    with pytest.raises(
        InputError,
        match=r"not whole: expected 2 shards, found 1 in .*Run the same `protoleaf embed`",
    ):
        DataSet.open(tmp_path)
    (tmp_path / "shards" / "0000000.parquet").touch()
    write_manifest(tmp_path, replace(whole.manifest, shards=()))
    with pytest.raises(InputError, match="not whole"):
        DataSet.open(tmp_path)


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (
            None,
            InputError,
            "not a data set: expected a folder with manifest.json, found no manifest.json",
        ),
        ('{"format": "something else"}', InputError, "not a data set.*found another manifest.json"),
        ("[1", FormatError, "the manifest of a data set is damaged"),
        (
            '{"format": "protoleaf data set", "version": 1}',
            FormatError,
            "the manifest of a data set is damaged",
        ),
        (
            '{"format": "protoleaf data set", "version": 2}',
            FormatError,
            "newer version.*found version 2",
        ),
    ],
)
def test_other_folders_are_refused(
    tmp_path: Path, content: str | None, error: type[Exception], message: str
) -> None:
    """In one line."""
    if content is not None:
        (tmp_path / DESCRIPTION).write_text(content, encoding="utf-8")
    assert is_data_set(tmp_path) == ("protoleaf data set" in (content or ""))
    with pytest.raises(error, match=message):
        DataSet.open(tmp_path)
