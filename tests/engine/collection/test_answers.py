"""What a live collection answers about images and classes."""

from pathlib import Path

import numpy as np
import pytest

from engine.collection.embed import embed_project
from engine.collection.importing.import_images import import_images
from engine.collection.live import LiveCollection
from engine.collection.state import NO_CLASS
from engine.config import CacheFolders
from engine.errors import UnknownClassError
from engine.everyday.back_off import DEFAULT_BAR
from engine.project import ClassPolicy
from tests.support.collections import LEAVES, Collection, class_ids, read_truth_table, write_shape


def _shares(live: LiveCollection, image_id: int, class_id: int | None = None) -> float:
    explanation = live.explain(image_id, class_id)
    assert explanation is not None
    others = sum(share.share for share in (*explanation.parents, *explanation.coarse))
    return explanation.own.share + others + explanation.unlabelled


@pytest.mark.slow
def test_top_classes(live: LiveCollection) -> None:
    """Most probable first, equal to the state; probabilities sum to one; a count limits them."""
    state = live.state
    for place in (0, 30, 63):
        image_id = int(state.image_ids[place])
        top = live.top_classes(image_id, count=100)
        assert [scored.class_id for scored in top[:1]] == [state.best_class[place]]
        assert top[0].score == pytest.approx(state.best_score[place], abs=1e-5)
        assert sum(scored.score for scored in top) == pytest.approx(1, abs=1e-5)
        assert [scored.score for scored in top] == sorted(
            (scored.score for scored in top), reverse=True
        )
        assert len(top) == len(LEAVES)
        assert live.top_classes(image_id, count=3) == top[:3]
    assert live.top_classes(10_000) == ()


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["ppn+", "ppn", "prototypes"])
def test_explanations_add_up(live: LiveCollection, setting: str) -> None:
    """Shares of a prototype sum to one for any class, predicted or not, coarse or fine."""
    live.apply(live.project.policies.set_setting("setting", setting))
    state, ids = live.state, class_ids(live.project)
    for place in range(0, 64, 7):
        assert _shares(live, int(state.image_ids[place])) == pytest.approx(1, abs=1e-5)
    assert _shares(live, int(state.image_ids[30]), ids["Blue disc"]) == pytest.approx(1, abs=1e-5)


@pytest.mark.slow
def test_an_explanation_leads_back_to_images(live: LiveCollection) -> None:
    """Its shots, images below its parents, and the score and safe class of the state."""
    state, ids = live.state, class_ids(live.project)
    image_id = int(state.image_ids[40])
    explanation = live.explain(image_id)
    assert explanation is not None
    labelled = dict(zip(state.image_ids.tolist(), state.label_class.tolist(), strict=True))
    assert {labelled[shot] for shot in explanation.own.image_ids} == {explanation.class_id}
    assert len(explanation.own.image_ids) == 3
    (parent,) = explanation.parents
    assert parent.class_id in live.project.classes.graph.parents(explanation.class_id)
    assert {labelled[shot] for shot in parent.image_ids} == set(
        live.project.classes.graph.children(parent.class_id)
    )
    assert explanation.score == pytest.approx(state.best_score[40], abs=1e-5)
    assert explanation.safe is not None
    assert explanation.safe.class_id == state.safe_class[40]
    coarse = live.explain(image_id, ids["Red"])
    assert coarse is not None
    below = [
        scored.score
        for scored in live.top_classes(image_id, 99)
        if scored.class_id in live.project.classes.graph.children(ids["Red"])
    ]
    assert coarse.score == pytest.approx(sum(below), abs=1e-5)


@pytest.mark.slow
def test_unknown_is_the_same_word_everywhere(live: LiveCollection, collection: Collection) -> None:
    """Explanation and state agree about which images are unknown, also with zero-shot classes."""
    live.apply(live.project.classes.add("Red rings", [class_ids(live.project)["Red"]])[0])
    noise = collection.folder / "noise"
    for seed in range(4):
        write_shape(noise / f"{seed}.png", LEAVES[seed], seed=seed)
        path = noise / f"{seed}.png"
        path.write_bytes((noise / "0.png").read_bytes() + bytes([seed]))
    live.apply(import_images(live.project, [noise]).change)
    embed_project(live.project, collection.caches, device="cpu")
    state = live.take_embedded(live.state.image_ids.tolist())
    for place, image_id in enumerate(state.image_ids.tolist()):
        explanation = live.explain(image_id)
        assert explanation is not None
        assert explanation.is_unknown == state.is_unknown[place]


@pytest.mark.slow
def test_nothing_to_explain(live: LiveCollection, tmp_path: Path) -> None:
    """For images without embedding, unknown ids and classes without prototype."""
    waiting = import_images(
        live.project, [write_shape(tmp_path / "new.png", "Red disc", seed=70)]
    ).change
    live.apply(waiting)
    assert live.explain(waiting.images_added[0]) is None
    assert live.top_classes(waiting.images_added[0]) == ()
    assert live.explain(10_000) is None
    change, alone = live.project.classes.add("Alone")
    live.apply(change)
    assert live.explain(int(live.state.image_ids[0]), alone) is None


@pytest.mark.slow
def test_class_facts(live: LiveCollection) -> None:
    """Shots, lambda in (0, 1), weights of parents that sum to one, and the threshold used."""
    project, ids = live.project, class_ids(live.project)
    live.apply(project.classes.link(ids["Blue"], [ids["Red disc"]]))
    live.apply(project.policies.set(ids["Blue"], ClassPolicy(0.95)))
    facts = live.class_facts(ids["Red disc"])
    labelled = live.state.image_ids[live.state.label_class == ids["Red disc"]].tolist()
    assert list(facts.shots) == labelled
    assert len(labelled) == 3
    assert 0 < facts.lambda_ <= 1
    assert [parent.class_id for parent in facts.parents] == [ids["Red"], ids["Blue"]]
    assert sum(parent.score for parent in facts.parents) == pytest.approx(1, abs=1e-5)
    assert not facts.is_zero_shot
    assert (facts.bar, facts.own_bar) == (0.95, None)
    assert (live.class_facts(ids["Blue"]).bar, live.class_facts(ids["Blue"]).own_bar) == (
        0.95,
        0.95,
    )
    assert live.class_facts(ids["Green"]).bar == DEFAULT_BAR
    assert live.class_facts(ids["Green"]).shots == ()


@pytest.mark.slow
def test_facts_of_a_class_without_images(live: LiveCollection) -> None:
    """Zero-shot below a class with images; none where nothing propagates; an unknown id fails."""
    ids = class_ids(live.project)
    change, ring = live.project.classes.add("Red ring", [ids["Red"]])
    live.apply(change)
    facts = live.class_facts(ring)
    assert (facts.is_zero_shot, facts.lambda_, facts.shots) == (True, 0, ())
    assert [(parent.class_id, round(parent.score, 5)) for parent in facts.parents] == [
        (ids["Red"], 1)
    ]
    change, alone = live.project.classes.add("Alone")
    live.apply(change)
    assert live.class_facts(alone).is_zero_shot
    live.apply(live.project.history.undo() or change)
    with pytest.raises(UnknownClassError):
        live.class_facts(alone)


@pytest.mark.slow
def test_candidates_are_unlabelled_and_of_the_class(live: LiveCollection) -> None:
    """Unlabelled images, mostly of the class, the nearest first."""
    project, ids = live.project, class_ids(live.project)
    truth = read_truth_table(Collection(project.path.parent, CacheFolders(project.path.parent)))
    paths = dict(zip(live.state.image_ids.tolist(), live.state.paths, strict=True))
    candidates = live.candidates(ids["Green stripes"], count=5)
    assert len(candidates) == len(set(candidates)) == 5
    assert sum(truth[paths[image_id]] == "Green stripes" for image_id in candidates) >= 3
    live.apply(project.labels.set(candidates[:1], ids["Green stripes"]))
    live.apply(project.labels.set(candidates[1:2], None))
    after = live.candidates(ids["Green stripes"], count=100)
    unlabelled = live.state.image_ids[live.state.label_class == NO_CLASS].tolist()
    assert set(after) == set(unlabelled)
    live.apply(project.images.remove(after[:1]))
    assert after[0] not in live.candidates(ids["Green stripes"], count=100)
    change, alone = project.classes.add("Alone")
    live.apply(change)
    assert live.candidates(alone) == ()


@pytest.mark.slow
def test_candidates_of_a_class_without_images(live: LiveCollection) -> None:
    """Of a zero-shot class: those near the prototype propagated by its parent."""
    change, ring = live.project.classes.add("Blue ring", [class_ids(live.project)["Blue"]])
    live.apply(change)
    assert len(live.candidates(ring)) == 12


def test_predicted_candidates_come_first(live: LiveCollection) -> None:
    """Images predicted as the class or below by probability; then the others by similarity."""
    green = class_ids(live.project)["Green"]
    state, candidates = live.state, live.candidates(green, count=100)
    below = (green, *live.project.classes.graph.descendants(green))
    places = [state.position(image_id) for image_id in candidates]
    is_predicted = [int(state.best_class[place]) in below for place in places]
    assert 0 < sum(is_predicted) < len(is_predicted)
    assert is_predicted == sorted(is_predicted, reverse=True)
    scores = [float(state.best_score[place]) for place in places[: sum(is_predicted)]]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.slow
def test_bars_decide_the_safe_class(live: LiveCollection) -> None:
    """A threshold of 1 on a branch leaves it no safe classes; a deepest class limits them."""
    project, ids = live.project, class_ids(live.project)
    live.apply(project.policies.set(ids["Red"], ClassPolicy(is_deepest=True)))
    below = [ids["Red disc"], ids["Red stripes"], ids["Red checks"]]
    assert not np.isin(live.state.safe_class, below).any()
    assert (live.state.safe_class == ids["Red"]).any()
    live.apply(project.policies.set(ids["Blue"], ClassPolicy(1.0)))
    blue = [ids["Blue"], *project.classes.graph.children(ids["Blue"])]
    safe_blue = np.isin(live.state.safe_class, blue)
    assert (live.state.safe_score[safe_blue] >= 1.0).all()


def test_nearest_shots_of_a_class(live: LiveCollection) -> None:
    """Labelled images of the class or below by similarity, without the image itself."""
    state, ids = live.state, class_ids(live.project)
    image_id = int(state.image_ids[state.label_class == NO_CLASS][0])
    labels = dict(zip(state.image_ids.tolist(), state.label_class.tolist(), strict=True))
    row = live.embedded.ready_row(image_id)
    assert row is not None
    vector = live.embedded.store.floats(np.array([row]))[0]

    def similarity(shot: int) -> float:
        return float(
            live.embedded.store.floats(np.array([live.embedded.ready_row(shot)]))[0] @ vector
        )

    for name, classes in (
        ("Red disc", {ids["Red disc"]}),
        ("Red", {ids[leaf] for leaf in LEAVES if "Red" in leaf}),
    ):
        shots = live.nearest_shots(image_id, ids[name], 100)
        assert set(shots) == {shot for shot, label in labels.items() if label in classes}
        assert list(shots) == sorted(shots, key=lambda shot: -similarity(shot))
        assert live.nearest_shots(image_id, ids[name], 2) == shots[:2]
    itself = shots[0]
    assert itself not in live.nearest_shots(itself, ids["Red"], 100)
    assert live.nearest_shots(10_000, ids["Red"]) == live.nearest_shots(image_id, 10_000) == ()
