"""Predictions of a data set equal the program's for the same embeddings."""

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from engine.bundle.export import export_model
from engine.bundle.opened import open_bundle
from engine.collection.classify import Classified, classify_project
from engine.dataset.described_folder import SHARDS
from engine.dataset.opened import DataSet
from engine.dataset.shard_files import each_batch
from engine.embedding.views import unit_length
from engine.errors import FormatError, InputError
from engine.everyday.classifier import Setting
from engine.project import Project
from protoleaf_cluster.classify import begin_predictions
from protoleaf_cluster.classify_shard import ClassifyShards
from protoleaf_cluster.predictions import prediction_shards, read_predictions_manifest
from protoleaf_cluster.shard_work import Resources
from tests.support.collections import Collection, without_its_views
from tests.support.data_sets import embedded

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Laid:
    """A project, its exported model, and a data set of its images."""

    classified: Classified
    names: dict[int, str]
    model: Path
    data_set: DataSet


@pytest.fixture
def laid(collection: Collection, tmp_path: Path) -> Laid:
    """The small collection, one image damaged, classified without views."""
    without_its_views(collection)
    with Project.open(collection.project, for_writing=False) as project:
        classified = classify_project(project, collection.caches, Setting.PPN_PLUS)
        graph = project.classes.graph
        names = {class_id: graph.name(class_id) for class_id in graph.classes()}
        model = export_model(project, collection.caches, tmp_path / "model").folder
    (collection.unsorted / "999.png").write_bytes(b"nothing")
    return Laid(
        classified, names, model, embedded([collection.unsorted], tmp_path / "set", shard_images=9)
    )


def predicted(laid: Laid, out: Path) -> list[dict[str, object]]:
    """Rows of predictions, computed in this process."""
    manifest = begin_predictions(laid.data_set, open_bundle(laid.model), out)
    do = ClassifyShards(laid.data_set.folder, out).open(Resources())
    numbers = range(manifest.shard_count)
    assert all(do(number).is_new for number in numbers)
    shards = prediction_shards(out, manifest)
    return pa.Table.from_batches(
        [batch for each in numbers for batch in each_batch(shards, each)]
    ).to_pylist()


def test_predictions_are_the_program_s_own(laid: Laid, tmp_path: Path) -> None:
    """Class, score, safe class and unknown, row by row."""
    rows = predicted(laid, tmp_path / "out")
    fitted, numbers = laid.classified.fitted, range(laid.data_set.manifest.shard_count)
    each = [part for number in numbers for part in laid.data_set.each_rows(number)]
    has = np.concatenate([part.has_embedding for part in each])
    embeddings = unit_length(np.concatenate([part.embeddings for part in each]).astype(np.float32))
    probabilities = fitted.probabilities(embeddings)
    scores = fitted.classify_new(embeddings)
    is_unknown = fitted.distance(scores) > laid.classified.unknown_distance
    assert [row["path"] for row in rows] == [path for part in each for path in part.paths]
    assert int((~has).sum()) == 1
    for place, row in enumerate(rows):
        if not has[place]:
            assert {row[name] for name in row if name not in {"path", "content_hash", "model"}} == {
                None
            }
            continue
        best = int(probabilities[place].argmax())
        assert row["class_id"] == int(fitted.candidate_ids[best])
        assert row["class_name"] == laid.names[int(fitted.candidate_ids[best])]
        assert math.isclose(float(str(row["score"])), probabilities[place, best], abs_tol=1e-4)
        assert row["is_unknown"] == bool(is_unknown[place])
        safe = int(scores.safe_class[place])
        expected = None if safe < 0 or is_unknown[place] else safe
        assert row["safe_class_id"] == expected
        assert row["safe_class_name"] == (None if expected is None else laid.names[expected])
        assert (row["safe_score"] is None) == (expected is None)
    assert {row["model"] for row in rows} == {"leafnet"}


def test_only_missing_shards_are_made(laid: Laid, tmp_path: Path) -> None:
    """With equal results."""
    rows = predicted(laid, tmp_path / "out")
    manifest = read_predictions_manifest(tmp_path / "out")
    shards = prediction_shards(tmp_path / "out", manifest)
    shards.path(1).unlink()
    shards.path(2).write_bytes(shards.path(2).read_bytes()[:-9])
    do = ClassifyShards(laid.data_set.folder, tmp_path / "out").open(Resources())
    numbers = range(manifest.shard_count)
    assert [do(number).is_new for number in numbers] == [False, True, True, False, False]
    again = pa.Table.from_batches(
        [batch for each in numbers for batch in each_batch(shards, each)]
    ).to_pylist()
    assert again == rows


def test_a_damaged_data_set_is_named(laid: Laid, tmp_path: Path) -> None:
    """With the command that repairs it; no partial predictions are left."""
    begin_predictions(laid.data_set, open_bundle(laid.model), tmp_path / "out")
    path = laid.data_set.shards.path(0)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)
    do = ClassifyShards(laid.data_set.folder, tmp_path / "out").open(Resources())
    with pytest.raises(
        FormatError, match=r"a shard is damaged.*Run the same `protoleaf embed` again"
    ):
        do(0)
    assert list((tmp_path / "out" / SHARDS).iterdir()) == []


def test_what_does_not_belong_together_is_refused(laid: Laid, tmp_path: Path) -> None:
    """A data set of another backbone, predictions of another model, a folder with other files."""
    bundle = open_bundle(laid.model)
    manifest = begin_predictions(laid.data_set, bundle, tmp_path / "out")
    assert begin_predictions(laid.data_set, bundle, tmp_path / "out") == manifest
    other = DataSet(laid.data_set.folder, replace(laid.data_set.manifest, data_set_id="another"))
    with pytest.raises(
        InputError, match="the folder contains predictions of another data set or model"
    ):
        begin_predictions(other, bundle, tmp_path / "out")
    with pytest.raises(InputError, match="this name is already taken"):
        begin_predictions(laid.data_set, bundle, laid.model)
    with pytest.raises(InputError, match="this is not a folder of predictions"):
        begin_predictions(laid.data_set, bundle, laid.data_set.folder)
    elsewhere = DataSet(
        laid.data_set.folder, replace(laid.data_set.manifest, backbone_hash="0" * 64)
    )
    refusal = (
        r"by another backbone than the model's: expected leafnet \(\w{32}\), found leafnet "
        r"\(0{32}\) in"
    )
    with pytest.raises(InputError, match=refusal):
        begin_predictions(elsewhere, bundle, tmp_path / "new")
    assert not (tmp_path / "new").exists()
