"""The command line and the window classify alike: embeddings, basis and predictions are equal."""

from pathlib import Path

import numpy as np
import pytest

from engine.collection.classify import Classified, classify_project, predictions
from engine.collection.embed import embed_project
from engine.collection.importing.import_images import import_images
from engine.collection.live import LiveCollection
from engine.collection.state import NO_CLASS, CollectionState, ImageStatus
from engine.config import CacheFolders
from engine.errors import InputError
from engine.everyday.classifier import Setting
from engine.project import Project
from research.benchmarks.synthetic import synthetic_project
from tests.support.collections import Collection, write_shape

ANCHORS = 1100


def _assert_as_shown(classified: Classified, shown: CollectionState) -> None:
    """Check that predictions of unlabelled images are bit-identical to the window's."""
    free = np.flatnonzero((shown.label_class == NO_CLASS) & (shown.status == ImageStatus.READY))
    image_ids, found = zip(*predictions(classified), strict=True)
    assert list(image_ids) == shown.image_ids[free].tolist()
    assert [one.class_id for one in found] == shown.best_class[free].tolist()
    assert [one.score for one in found] == shown.best_score[free].tolist()
    assert [one.safe_class_id or NO_CLASS for one in found] == shown.safe_class[free].tolist()
    assert [one.safe_score for one in found] == shown.safe_score[free].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("with_stage", [True, False])
@pytest.mark.parametrize("setting", Setting)
def test_the_window_shows_the_same(
    live: LiveCollection, collection: Collection, setting: Setting, with_stage: bool
) -> None:
    """With pending, removed, and "none of the classes" images, in every setting."""
    folder, project = collection.folder / "new", live.project
    write_shape(folder / "waits.png", "Green disc", seed=100)
    live.apply(project.policies.set_setting("setting", setting.value))
    live.apply(project.policies.set_setting("collection", with_stage))
    live.apply(import_images(project, [folder]).change)
    live.apply(project.labels.set(live.state.image_ids[30:32].tolist(), None))
    live.apply(project.images.remove(live.state.image_ids[35:37].tolist()))
    classified = classify_project(project, collection.caches, setting)
    assert classified.waiting == 1
    assert live.fitted is not None
    assert classified.fitted.figures == live.fitted.figures
    _assert_as_shown(classified, live.load())


def test_what_is_asked_for_comes_before_the_project_s_settings(
    live: LiveCollection, collection: Collection
) -> None:
    """Setting and collection stage can be overridden for one run; the project is unchanged."""
    live.project.policies.set_setting("collection", False)
    live.project.policies.set_setting("setting", "ppn")
    classified = classify_project(
        live.project, collection.caches, Setting.PPN_PLUS, with_stage=True
    )
    assert classified.fitted.setting is Setting.PPN_PLUS
    assert classified.fitted.figures.collection is not None
    live.load()
    assert live.fitted is not None
    assert (live.fitted.setting, live.fitted.figures.collection) == (Setting.PPN, None)


@pytest.mark.slow
def test_the_cached_basis_serves_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whitening and neighbours of a large collection are computed once for both."""
    monkeypatch.setattr("engine.everyday.collection_stage.basis.MOST_ANCHORS", ANCHORS)
    monkeypatch.setattr("engine.everyday.collection_stage.live_basis.MOST_ANCHORS", ANCHORS)
    caches = CacheFolders(tmp_path / "cache")
    path = synthetic_project(tmp_path, caches, 1300)
    with Project.open(path, for_writing=False) as project:
        first = classify_project(project, caches)
        monkeypatch.setattr(
            "engine.everyday.collection_stage.live_basis.collection_basis", _must_not_be_made
        )
        again = classify_project(project, caches)
    live = LiveCollection.open(path, caches, for_writing=False)
    _assert_as_shown(first, live.load())
    _assert_as_shown(again, live.state)
    live.close()


def _must_not_be_made(*_arguments: object, **_named: object) -> None:
    raise AssertionError("the basis is made again although it was cached")


@pytest.mark.slow
def test_embeddings_that_the_project_could_not_write_down(collection: Collection) -> None:
    """Embeddings of a read-only project are cached only; window and command line both use them."""
    with Project.open(collection.project) as project:
        write_shape(collection.folder / "new" / "late.png", "Green disc", seed=100)
        import_images(project, [collection.folder / "new"])
    with Project.open(collection.project, for_writing=False) as project:
        embed_project(project, collection.caches, device="cpu")
        classified = classify_project(project, collection.caches)
    live = LiveCollection.open(collection.project, collection.caches, for_writing=False)
    assert (live.load().status == ImageStatus.READY).all()
    assert classified.waiting == 0
    _assert_as_shown(classified, live.state)
    live.close()


@pytest.mark.slow
def test_what_is_missing_is_reported(tmp_path: Path) -> None:
    """Without classes, images, embeddings or shots, an error says what to do."""
    caches = CacheFolders(tmp_path / "cache")
    live = LiveCollection.create(tmp_path / "a.protoleaf", caches)
    project = live.project

    def refusal() -> str:
        with pytest.raises(InputError) as caught:
            classify_project(project, caches)
        return str(caught.value)

    assert "has no classes" in refusal()
    project.classes.add("Red")
    assert "has no images" in refusal()
    write_shape(tmp_path / "new" / "0.png", "Red disc", seed=0)
    import_images(project, [tmp_path / "new"])
    assert "no image has an embedding yet" in refusal()
    embed_project(project, caches, device="cpu")
    assert "no class has an example yet" in refusal()
    live.close()
