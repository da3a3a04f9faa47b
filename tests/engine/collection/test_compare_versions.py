"""Two model versions side by side, by what is embedded already."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from engine.collection.compare_versions import compare_versions
from engine.collection.embed import open_cache
from engine.collection.models import find_model
from engine.collection.training.trained import adopt
from engine.errors import InputError
from engine.project import Project
from tests.support.backbones import write_tiny_backbone
from tests.support.collections import Collection
from tests.support.trained import write_tuned

UNLABELLED = 40


def test_versions_that_do_the_same_differ_nowhere(collection: Collection, tmp_path: Path) -> None:
    """On one backbone nothing waits: all unlabelled images are compared, and both are right equally often."""
    with Project.open(collection.project) as project:
        version_id = adopt(project, write_tuned(tmp_path / "out", project))
    with Project.open(collection.project, for_writing=False) as project:
        found = compare_versions(project, collection.caches, 1, version_id)
    assert (found.images, found.other_leaf, found.other_safe_class) == (UNLABELLED, 0, 0)
    assert (found.first.name, found.second.name) == (find_model().name, "Tuned propagation 1")
    assert found.first.accuracy == found.second.accuracy is not None
    assert (found.first.shots_checked, found.first.waiting, found.second.waiting) == (24, 0, 0)


def test_another_backbone_gives_other_answers(collection: Collection, tmp_path: Path) -> None:
    """Until it has embeddings there is nothing to compare; with them, images change their class."""
    backbone = tmp_path / "own.onnx"
    shutil.copy(find_model().propagation, backbone.with_suffix(".propagation.onnx"))
    write_tiny_backbone(backbone, width=find_model().card.embedding_width)
    own = find_model(str(backbone))
    with Project.open(collection.project) as project:
        other = project.add_model_version(
            backbone_name="own", backbone_hash=own.backbone_hash, backbone_path=str(backbone)
        )
        before = compare_versions(project, collection.caches, 1, other.version_id)
        hashes = [content for content in project.image_table().content_hashes if content]
        vectors = np.random.default_rng(0).normal(size=(len(hashes), own.card.embedding_width)).astype(np.float32)
        with open_cache(own, collection.caches) as cache:
            cache.put_many(hashes, vectors)
        after = compare_versions(project, collection.caches, 1, other.version_id)
    assert (before.images, before.other_leaf, before.other_safe_class) == (None, None, None)
    assert (before.second.accuracy, before.second.waiting) == (None, UNLABELLED + 24)
    assert before.first == after.first
    assert after.images == UNLABELLED
    assert after.other_leaf is not None
    assert UNLABELLED // 2 < after.other_leaf <= UNLABELLED  # by chance one in eight stays
    assert after.other_safe_class is not None
    assert after.second.accuracy is not None


def test_a_version_that_is_not_there_is_refused(collection: Collection) -> None:
    """Its number is in the message."""
    with Project.open(collection.project, for_writing=False) as project, pytest.raises(InputError, match="7"):
        compare_versions(project, collection.caches, 1, 7)
