"""A project of some images of a data set; "teach first" covers all kinds of images."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.collection.importing import data_set as sampling
from engine.collection.importing.data_set import Sample, SampleBy, project_of_data_set
from engine.config import CacheFolders
from engine.dataset.opened import DataSet
from engine.errors import Cancelled, InputError
from engine.events import CancelToken, Progress
from engine.images.read_file import HASH_BYTES
from engine.project import Project
from tests.support.data_sets import some_rows, write_data_set

KINDS = 6
COMMON, RARE = 100, 5  # images of the first kind, and of each other


@pytest.fixture
def data_set(tmp_path: Path) -> DataSet:
    """Images of six kinds: a hundred of the first, five of each other."""
    counts = [COMMON] + [RARE] * (KINDS - 1)
    kinds = np.repeat(np.arange(KINDS), counts)
    generator = np.random.default_rng(3)
    embeddings = np.eye(384)[kinds] + 0.02 * generator.standard_normal((len(kinds), 384))
    rows = replace(
        some_rows(len(kinds), 384),
        content_hashes=[generator.bytes(HASH_BYTES) for _ in kinds],
        paths=[f"{kind}/{number}.jpg" for number, kind in enumerate(kinds)],
        embeddings=embeddings.astype(np.float16),
        has_embedding=np.ones(len(kinds), dtype=bool),
    )
    return write_data_set(
        tmp_path / "set", [rows.take(np.arange(start, len(kinds), 2)) for start in range(2)]
    )


def kinds_of(path: Path) -> list[str]:
    """Kinds of a project's images, in order."""
    with Project.open(path, for_writing=False) as project:
        return [Path(each.path).parent.name for each in project.images.records()]


def test_teach_first_takes_every_kind(data_set: DataSet, tmp_path: Path) -> None:
    """Ten random images miss rare kinds; the first six chosen are one of each."""
    chosen = {}
    for by in SampleBy:
        path = tmp_path / f"{by}.protoleaf"
        reports: list[Progress] = []
        done = project_of_data_set(
            path,
            data_set.folder,
            CacheFolders(tmp_path / "cache"),
            sample=Sample(10, by),
            on_progress=reports.append,
        )
        assert (done.images, done.embedded, done.doubles) == (10, 10, 0)
        assert (
            reports[-1].done
            == reports[-1].total
            == (10 if by is SampleBy.RANDOM else COMMON + 5 * RARE)
        )
        chosen[by] = kinds_of(path)
    assert len(set(chosen[SampleBy.TEACH_FIRST][:KINDS])) == KINDS
    assert len(set(chosen[SampleBy.RANDOM])) < KINDS


def test_candidates_are_a_random_draw(
    data_set: DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Candidates are a random sample of a given size, which limits the choice."""
    monkeypatch.setattr(sampling, "CANDIDATES", 20)
    path, caches = tmp_path / "a.protoleaf", CacheFolders(tmp_path / "cache")
    with pytest.raises(
        InputError, match="expected at most 20, the number that it chooses from, found 21"
    ):
        project_of_data_set(path, data_set.folder, caches, sample=Sample(21))
    assert not path.exists()
    assert project_of_data_set(path, data_set.folder, caches, sample=Sample(20)).images == 20
    assert (
        project_of_data_set(
            tmp_path / "b.protoleaf", data_set.folder, caches, sample=Sample(21, SampleBy.RANDOM)
        ).images
        == 21
    )


@pytest.mark.parametrize("by", SampleBy)
def test_a_stopped_draw_leaves_no_project(by: SampleBy, data_set: DataSet, tmp_path: Path) -> None:
    """Cancelled between two batches."""
    cancel, path = CancelToken(), tmp_path / "a.protoleaf"
    cancel.cancel()
    with pytest.raises(Cancelled):
        project_of_data_set(
            path,
            data_set.folder,
            CacheFolders(tmp_path / "cache"),
            sample=Sample(10, by),
            cancel=cancel,
        )
    assert not path.exists()
