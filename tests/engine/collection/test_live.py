"""A live collection equals a freshly opened one after every action."""

import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.collection.embed import embed_project
from engine.collection.embedded_images import nothing_to_store
from engine.collection.importing.import_images import import_images
from engine.collection.live import LiveCollection
from engine.collection.models import find_model
from engine.collection.state import NO_CLASS, UNKNOWN, ImageStatus
from engine.config import CacheFolders, assets_folder
from engine.embedding.cache import EmbeddingCache
from engine.everyday.prototypical import fit as fit_module
from engine.everyday.prototypical.fit import fit
from engine.everyday.prototypical.model import EverydayModel
from engine.model_card import card_path, read_card, write_card
from engine.project import Change, ClassPolicy
from research.benchmarks.synthetic import synthetic_project
from tests.support.collections import (
    FAMILIES,
    LEAVES,
    Collection,
    class_ids,
    write_graph,
    write_shape,
)
from tests.support.live_states import assert_same, fresh_state, own_copy

Action = Callable[[LiveCollection], Change | None]


def _free(live: LiveCollection) -> list[int]:
    """Images without labels."""
    return live.state.image_ids[live.state.label_class == NO_CLASS].tolist()


def _do(live: LiveCollection, caches: CacheFolders, action: Action) -> Change | None:
    """Act, and check the new state and that the old snapshot is unchanged."""
    before = live.state
    kept = own_copy(before)
    change = action(live)
    if change is not None:
        assert live.apply(change) is live.state
    assert_same(live.state, fresh_state(live, caches))
    assert_same(before, kept, tolerance=0)
    return change


def test_first_paint_comes_before_predictions(collection: Collection) -> None:
    """The image list has labels and shots; loading adds predictions of embedded images."""
    live = LiveCollection.open(collection.project, collection.caches, for_writing=False)
    listed = live.load_list()
    assert (len(listed.image_ids), sum(listed.shot_counts.values())) == (64, 24)
    assert (listed.best_class == NO_CLASS).all()
    assert live.top_classes(int(listed.image_ids[0])) == ()
    assert live.explain(int(listed.image_ids[0])) is None
    loaded = live.load()
    assert (loaded.status == ImageStatus.READY).all()
    assert (loaded.best_class > 0).all()
    assert_same(listed, live.embedded.images.blank_state("leafnet"), tolerance=0)
    live.close()


@pytest.mark.slow
def test_every_kind_of_action_one_after_the_other(
    live: LiveCollection, collection: Collection
) -> None:
    """Labels, classes, thresholds, settings and images, with undo and redo of each."""
    ids = class_ids(live.project)
    caches = collection.caches
    project = live.project
    actions: list[Action] = [
        lambda _: project.labels.set(_free(live)[:1], ids["Blue checks"]),
        lambda _: project.labels.set(_free(live)[:3], ids["Red"]),
        lambda _: project.labels.set(_free(live)[:2], None),
        lambda _: project.labels.remove(live.state.image_ids[:1].tolist()),
        lambda _: project.labels.set(live.state.image_ids[1:3].tolist(), ids["Green disc"]),
        lambda _: project.classes.add("Yellow disc", [ids["Green"]])[0],
        lambda _: project.labels.set(_free(live)[-1:], class_ids(project)["Yellow disc"]),
        lambda _: project.classes.link(ids["Blue"], [class_ids(project)["Yellow disc"]]),
        lambda _: project.classes.move([(ids["Red checks"], ids["Red"])], ids["Blue"]),
        lambda _: project.classes.rename(ids["Blue stripes"], "Blue bars"),
        lambda _: project.policies.set(ids["Red"], ClassPolicy(0.999)),
        lambda _: project.policies.set(ids["Green"], ClassPolicy(is_deepest=True)),
        lambda _: project.policies.set_setting("collection", False),
        lambda _: project.policies.set_setting("setting", "prototypes"),
        lambda _: project.policies.set_setting("collection", None),
        lambda _: project.policies.set_setting("setting", "ppn"),
        lambda _: project.images.remove(live.state.image_ids[[0, 30, -1]].tolist()),
        lambda _: project.classes.remove([ids["Green stripes"]]),
        lambda _: project.classes.remove([ids["Blue"]]),
        lambda _: project.policies.set_setting("setting", None),
    ]
    for action in actions:
        for step in (action, lambda _: project.history.undo(), lambda _: project.history.redo()):
            change = _do(live, caches, step)
            assert change is not None
            assert not change.is_empty


@pytest.mark.slow
def test_a_new_name_needs_no_fit(live: LiveCollection, collection: Collection) -> None:
    """Names, source ids and synonyms need no fit; edges do."""
    ids, project = class_ids(live.project), live.project
    live.take(project.classes.rename(ids["Blue stripes"], "Blue bars"))
    assert not live.is_behind
    assert_same(live.state, fresh_state(live, collection.caches))
    live.take(project.classes.link(ids["Red"], [ids["Blue stripes"]]))
    assert live.is_behind


@pytest.mark.slow
def test_undo_of_everything_and_redo_of_everything(
    live: LiveCollection, collection: Collection
) -> None:
    """Undo down to the empty project and redo up again, step by step."""
    live.project.labels.set(_free(live)[:2], None)
    live.load()
    last = own_copy(live.state)
    while live.project.history.undo_action is not None:
        _do(live, collection.caches, lambda live: live.project.history.undo())
    assert len(live.state.image_ids) == 0
    while live.project.history.redo_action is not None:
        _do(live, collection.caches, lambda live: live.project.history.redo())
    assert_same(live.state, last)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_random_walks(live: LiveCollection, collection: Collection, seed: int) -> None:
    """Twenty random actions, undos and redos equal a fresh opening."""
    choose = random.Random(seed)
    project = live.project

    def label(_: LiveCollection) -> Change:
        images = choose.sample(live.state.image_ids.tolist(), choose.randint(1, 4))
        return project.labels.set(images, choose.choice([None, *project.classes.graph.classes()]))

    def unlabel(_: LiveCollection) -> Change:
        return project.labels.remove(choose.sample(live.state.image_ids.tolist(), 3))

    def remove(_: LiveCollection) -> Change:
        return project.images.remove(choose.sample(live.state.image_ids.tolist(), 2))

    def grow(_: LiveCollection) -> Change:
        return project.classes.add(
            f"New {len(project.history.steps())}", [choose.choice(project.classes.graph.roots())]
        )[0]

    moves: list[Action] = [
        label,
        label,
        unlabel,
        remove,
        grow,
        lambda _: project.history.undo(),
        lambda _: project.history.redo(),
    ]
    for _ in range(20):
        _do(live, collection.caches, choose.choice(moves))


@pytest.mark.slow
def test_new_images_wait_and_then_are_classified(
    live: LiveCollection, collection: Collection
) -> None:
    """Added images are pending, then predicted or failed; others are unchanged."""
    folder, project = collection.folder / "new", live.project
    for seed in range(3):
        write_shape(folder / f"{seed}.png", "Green disc", seed=100 + seed)
    (folder / "letter.jpg").write_text("no image", encoding="utf-8")
    old = own_copy(live.state)
    _do(live, collection.caches, lambda _: import_images(project, [folder]).change)
    fresh = live.state.image_ids[-4:].tolist()
    assert (live.state.status[-4:] == ImageStatus.WAITING).all()
    assert (live.state.best_class[-4:] == NO_CLASS).all()
    np.testing.assert_array_equal(live.state.best_class[:-4], old.best_class)

    before = live.state
    kept = own_copy(before)
    embed_project(project, collection.caches, device="cpu")
    for part in (fresh[:1], fresh[1:]):
        live.take_embedded(part)
    assert_same(live.state, fresh_state(live, collection.caches))
    assert_same(before, kept, tolerance=0)
    by_name = dict(zip(live.state.paths, live.state.status.tolist(), strict=True))
    assert by_name["new/letter.jpg"] == ImageStatus.FAILED
    assert [by_name[f"new/{seed}.png"] for seed in range(3)] == [ImageStatus.READY] * 3


@pytest.mark.slow
def test_new_shots_teach_once_they_are_embedded(
    live: LiveCollection, collection: Collection
) -> None:
    """Imported labelled images become shots once they are embedded."""
    folder, project = collection.folder / "new", live.project
    ids = class_ids(project)
    for seed in range(2):
        write_shape(folder / f"{seed}.png", "Green disc", seed=100 + seed)
    change = import_images(project, [folder], class_id=ids["Green disc"]).change
    _do(live, collection.caches, lambda _: change)
    assert live.state.shot_counts[ids["Green disc"]] == 5
    assert live.fitted is not None
    assert live.fitted.shots.counts()[ids["Green disc"]] == 3
    embed_project(project, collection.caches, device="cpu")
    live.take_embedded(change.images_added)
    assert_same(live.state, fresh_state(live, collection.caches))
    assert live.fitted.shots.counts()[ids["Green disc"]] == 5


@pytest.mark.slow
def test_images_removed_while_they_are_embedded(
    live: LiveCollection, collection: Collection
) -> None:
    """A late result for a removed image is ignored; undo restores image and embedding."""
    folder, project = collection.folder / "new", live.project
    for seed, leaf in enumerate(("Green disc", "Red checks", "Blue stripes")):
        write_shape(folder / f"{seed}.png", leaf, seed=100 + seed)
    added = import_images(project, [folder]).change
    live.apply(added)
    embed_project(project, collection.caches, device="cpu")
    live.apply(project.images.remove([added.images_added[0], added.images_added[2]]))
    live.take_embedded(added.images_added)
    assert_same(live.state, fresh_state(live, collection.caches))
    _do(live, collection.caches, lambda _: project.history.undo())
    live.take_embedded(added.images_added)
    assert_same(live.state, fresh_state(live, collection.caches))
    assert (live.state.status == ImageStatus.READY).all()


@pytest.mark.slow
def test_an_action_before_everything_is_loaded(collection: Collection) -> None:
    """A label set before loading is complete gets predictions with the result."""
    live = LiveCollection.open(collection.project, collection.caches)
    live.load_list()
    _do(live, collection.caches, lambda live: live.project.labels.set(_free(live)[:1], None))
    assert (live.state.best_class > 0).all()
    live.close()


@pytest.mark.slow
def test_another_model_version(live: LiveCollection, collection: Collection) -> None:
    """It loads the embeddings of the other backbone; undo returns to the first."""
    bundled, other = find_model(), collection.folder / "other.onnx"
    shutil.copy(bundled.backbone, other)
    shutil.copy(bundled.propagation, other.with_suffix(".propagation.onnx"))
    fields = read_card(bundled.backbone)
    write_card(
        other,
        type(fields)(**{**vars(fields), "name": "other", "temperature": 5 * fields.temperature}),
    )
    assert card_path(other).exists()
    version = live.project.models.add(
        backbone_name="other", backbone_hash=bundled.backbone_hash, backbone_path=str(other)
    )
    live.apply(live.project.policies.set_setting("collection", False))
    first = own_copy(live.state)
    _do(live, collection.caches, lambda live: live.project.models.choose(version.version_id))
    assert live.state.model_name == "other"
    assert not np.allclose(live.state.best_score, first.best_score, atol=1e-3)
    _do(live, collection.caches, lambda live: live.project.history.undo())
    assert_same(live.state, first)


@pytest.mark.slow
def test_a_project_that_grows_from_nothing(tmp_path: Path, collection: Collection) -> None:
    """Every stage from the empty project to the first shot works."""
    live = LiveCollection.create(collection.folder / "grown.protoleaf", collection.caches)
    live.load()
    project, caches = live.project, collection.caches
    _do(live, caches, lambda _: project.classes.add("Red")[0])
    red = class_ids(project)["Red"]
    _do(live, caches, lambda _: import_images(project, [collection.unsorted]).change)
    embed_project(project, caches, device="cpu")
    live.take_embedded(live.state.image_ids.tolist())
    assert_same(live.state, fresh_state(live, caches))
    assert (live.state.best_class == NO_CLASS).all()
    assert live.candidates(red) == ()
    _do(live, caches, lambda _: project.labels.set(live.state.image_ids[:1].tolist(), red))
    assert (live.state.best_class == red).all()
    assert len(live.candidates(red)) == 12
    _do(live, caches, lambda _: project.history.undo())
    assert (live.state.best_class == NO_CLASS).all()
    _do(live, caches, lambda _: project.classes.add("Disc", [red])[0])
    _do(live, caches, lambda _: project.history.redo())
    live.close()


@pytest.mark.slow
def test_read_only_collection_shows_everything(collection: Collection) -> None:
    """A read-only project is classified without writing."""
    before = collection.project.read_bytes()
    live = LiveCollection.open(collection.project, collection.caches, for_writing=False)
    assert (live.load().best_class > 0).all()
    live.close()
    assert collection.project.read_bytes() == before
    assert find_model().backbone.is_relative_to(assets_folder())


@pytest.mark.slow
def test_counts_are_of_distinct_images(live: LiveCollection) -> None:
    """Once for its class and once for each ancestor; labels before predictions; unknown nowhere."""
    project = live.project
    ids = class_ids(project)
    live.apply(project.classes.link(ids["Blue"], [ids["Green disc"]]))
    live.apply(project.labels.set(live.state.image_ids[:2].tolist(), None))
    state = live.state
    assert (state.label_class[:2] == UNKNOWN).all()
    shown = np.where(
        state.label_class != NO_CLASS,
        state.label_class,
        np.where(state.is_unknown, NO_CLASS, state.best_class),
    )
    for class_id in project.classes.graph.classes():
        below = [class_id, *project.classes.graph.descendants(class_id)]
        assert state.image_counts.get(class_id, 0) == int(np.isin(shown, below).sum())
    assert sum(state.shot_counts.values()) == int((state.label_class > 0).sum())
    assert set(FAMILIES) | set(LEAVES) == set(ids)


def test_position_and_path(live: LiveCollection, collection: Collection) -> None:
    """An image is found by its id, and its path is that of the file."""
    state = live.state
    image_id = int(state.image_ids[40])
    assert state.position(image_id) == 40
    assert state.path_of(image_id).is_file()
    assert state.path_of(image_id).is_relative_to(collection.folder)
    with pytest.raises(KeyError):
        state.position(10_000)


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["ppn+", "prototypes"])
def test_labels_one_after_the_other_without_the_stage(tmp_path: Path, setting: str) -> None:
    """Without the collection stage predictions equal a fresh opening's bit for bit."""
    caches = CacheFolders(tmp_path / "cache")
    live = LiveCollection.open(synthetic_project(tmp_path, caches, 1200), caches)
    live.project.policies.set_setting("setting", setting)
    live.project.policies.set_setting("collection", False)
    live.load()
    for image_id in _free(live)[:4]:
        before = own_copy(live.state)
        best_class = int(live.state.best_class[live.state.position(image_id)])
        live.apply(live.project.labels.set([image_id], best_class))
        assert (before.best_score != live.state.best_score).any()
    assert_same(live.state, fresh_state(live, caches), tolerance=0)
    live.close()


@pytest.mark.slow
def test_a_collection_larger_than_its_anchors_keeps_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the collection stage each label is applied at once, as in a fresh opening."""
    monkeypatch.setattr("engine.everyday.collection_stage.basis.MOST_ANCHORS", 1100)
    monkeypatch.setattr("engine.everyday.collection_stage.live_basis.MOST_ANCHORS", 1100)
    caches = CacheFolders(tmp_path / "cache")
    live = LiveCollection.open(synthetic_project(tmp_path, caches, 1300), caches)
    live.load()
    assert live.fitted is not None
    assert live.fitted.figures.uses_collection
    for image_id in _free(live)[:2]:
        best_class = int(live.state.best_class[live.state.position(image_id)])
        live.apply(live.project.labels.set([image_id], best_class))
    full = fresh_state(live, caches)
    np.testing.assert_array_equal(live.state.best_class, full.best_class)
    np.testing.assert_allclose(live.state.best_score, full.best_score, atol=1e-3)
    live.close()


@pytest.mark.slow
def test_merging_a_graph_into_an_open_collection(
    live: LiveCollection, collection: Collection
) -> None:
    """New children of a class with shots become zero-shot candidates at once."""
    from engine.collection.importing.import_graph import import_graph

    source = write_graph(
        collection.folder / "more.csv", {"Red": ["Red disc", "Red rings"], "Brown": ["Brown disc"]}
    )
    _do(live, collection.caches, lambda live: import_graph(live.project, source).change)
    assert live.class_facts(class_ids(live.project)["Red rings"]).is_zero_shot


@pytest.mark.slow
def test_a_shot_without_an_embedding_is_not_fitted(
    live: LiveCollection, collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A photo dropped on a class becomes a shot once it is embedded."""
    fits: list[int] = []

    def counted(*given: Any, **named: Any) -> EverydayModel:
        fits.append(1)
        return fit(*given, **named)

    monkeypatch.setattr(fit_module, "fit", counted)
    photo = write_shape(tmp_path / "new.png", "Blue disc", seed=78)
    change = import_images(
        live.project, [photo], class_id=live.project.classes.graph.find("Blue disc")
    ).change
    before = live.fitted
    live.apply(change)
    assert (fits, live.fitted) == ([], before)
    embed_project(live.project, collection.caches)
    live.take_embedded(change.images_added)
    assert fits == [1]


@pytest.mark.slow
def test_a_large_collection_is_mapped_when_it_is_opened_again(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only new images are looked up, and the result equals one without the cache."""
    for name in (
        "collection.embedded_images.FEWEST_CACHED",
        "collection.embedded_images.MOST_IN_ALL_VIEWS",
        "embedding.views.MOST_IN_ALL_VIEWS",
    ):
        monkeypatch.setattr(f"engine.{name}", 10)
    live = LiveCollection.open(collection.project, collection.caches)
    first = live.load()
    live.close()
    (kept,) = collection.caches.collections.glob("*.rows")
    asked: list[bytes] = []
    look_up = EmbeddingCache.get_many

    def watched(cache: EmbeddingCache, hashes: Sequence[bytes]) -> object:
        asked.extend(hashes)
        return look_up(cache, hashes)

    monkeypatch.setattr(EmbeddingCache, "get_many", watched)
    live = LiveCollection.open(
        collection.project,
        collection.caches,
    )
    live.load_list()
    assert_same(live.load(), first, tolerance=0)
    labelled = live.embedded.images.ids[live.embedded.images.labels >= 0]
    assert set(asked) <= set(live.embedded.images.hashes_of(labelled))  # in all views
    live.close()
    kept.unlink()
    live = LiveCollection.open(collection.project, collection.caches)
    assert_same(live.load(), first, tolerance=0)
    live.close()


def test_embeddings_are_kept_after_a_fit_that_was_cancelled(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next fit writes them."""
    for name in (
        "collection.embedded_images.FEWEST_CACHED",
        "collection.embedded_images.MOST_IN_ALL_VIEWS",
        "embedding.views.MOST_IN_ALL_VIEWS",
    ):
        monkeypatch.setattr(f"engine.{name}", 10)
    live = LiveCollection.open(collection.project, collection.caches)
    live.load(fits=False)
    live.fit_input()  # not run
    live.fit_input().keep()
    assert len(list(collection.caches.collections.glob("*.rows"))) == 1
    assert live.fit_input().keep is nothing_to_store
    live.close()
