"""Which images to label first, before any label and later, without labelled ones."""

from pathlib import Path

import numpy as np
import pytest

from engine.collection.classify import images_to_label
from engine.collection.embed import embed_project
from engine.collection.fitting import run_fit
from engine.collection.importing.import_images import import_images
from engine.collection.live import LiveCollection
from engine.collection.new_project import new_project
from engine.collection.state import NO_CLASS, ImageStatus
from engine.config import CacheFolders
from engine.errors import InputError
from tests.support.collections import LEAVES, Collection, cache_of_test, class_ids, write_shape


def _leaf(path: Path) -> str:
    """True class of an image of the small collection, by folder or number."""
    return path.parent.name if path.parent.name in LEAVES else LEAVES[int(path.stem) % len(LEAVES)]


def _first(live: LiveCollection) -> list[int]:
    """Unlabelled images, best first."""
    state = live.state
    assert state.teach_rank is not None
    free = np.flatnonzero(state.label_class == NO_CLASS)
    return state.image_ids[free[np.argsort(state.teach_rank[free], kind="stable")]].tolist()


def test_nobody_asked(live: LiveCollection) -> None:
    """It is computed on request only."""
    assert live.state.teach_rank is None


@pytest.mark.slow
def test_asked_later(live: LiveCollection) -> None:
    """A request makes one fit due; from then on every fit has ranks until it is withdrawn."""
    live.rank_images_to_label(is_wanted=True)
    is_due = live.is_behind
    before = live.adopt(run_fit(live.fit_input()))
    assert before.teach_rank is not None
    assert (is_due, live.is_behind) == (True, False)
    first = _first(live)[0]
    after = live.apply(live.project.labels.set([first], class_ids(live.project)[LEAVES[0]]))
    assert after.teach_rank is not None
    assert after.teach_rank[after.position(first)] == after.teach_rank.max()
    live.rank_images_to_label(is_wanted=False)
    assert not live.is_behind
    undone = live.project.history.undo()
    assert undone is not None
    assert live.apply(undone).teach_rank is None


@pytest.mark.slow
def test_asking_completes_the_fit_that_there_is(live: LiveCollection) -> None:
    """The model stays and ranks equal those requested before the fit; a label changes both."""
    model = live.fitted
    live.rank_images_to_label(is_wanted=True)
    before = live.state
    assert live.adopt(run_fit(live.fit_input())).best_score is before.best_score
    completed = _first(live)
    assert live.fitted is model
    live.load()
    assert live.fitted is not model
    assert _first(live) == completed
    live.rank_images_to_label(is_wanted=False)
    live.adopt(run_fit(live.fit_input()))
    live.rank_images_to_label(is_wanted=True)
    model = live.fitted
    live.apply(live.project.labels.set([completed[0]], class_ids(live.project)[LEAVES[0]]))
    assert live.fitted is not model


@pytest.mark.slow
def test_images_that_came_since_make_it_a_fit(live: LiveCollection, tmp_path: Path) -> None:
    """New images make a full fit necessary."""
    (tmp_path / "new").mkdir()
    write_shape(tmp_path / "new" / "0.png", "Red disc", seed=5)
    model, change = live.fitted, import_images(live.project, [tmp_path / "new"]).change
    live.take(change)
    embed_project(live.project, cache_of_test(), device="cpu")
    live.take_embedded(change.images_added, fits=False)
    live.rank_images_to_label(is_wanted=True)
    live.adopt(run_fit(live.fit_input()))
    assert live.fitted is not model


@pytest.mark.slow
def test_before_any_label(live: LiveCollection) -> None:
    """The first eight images show at least seven of eight classes."""
    live.apply(live.project.labels.remove(live.state.image_ids.tolist()))
    live.rank_images_to_label(is_wanted=True)
    live.load()
    assert len({_leaf(live.state.path_of(image_id)) for image_id in _first(live)[:8]}) >= 7


@pytest.mark.slow
def test_what_is_not_asked_about(live: LiveCollection, collection: Collection) -> None:
    """Labelled and removed images and those without embedding come last or not at all."""
    project, folder = live.project, collection.folder / "new"
    live.rank_images_to_label(is_wanted=True)
    write_shape(folder / "waits.png", "Green disc", seed=100)
    live.apply(import_images(project, [folder]).change)
    live.apply(project.labels.set(live.state.image_ids[30:32].tolist(), None))
    live.apply(project.images.remove(live.state.image_ids[35:37].tolist()))
    state = live.state
    assert state.teach_rank is not None
    asked = (state.label_class == NO_CLASS) & (state.status == ImageStatus.READY)
    assert sorted(state.teach_rank[asked].tolist()) == list(range(int(asked.sum())))
    assert set(state.teach_rank[~asked].tolist()) == {int(asked.sum())}


@pytest.mark.slow
@pytest.mark.parametrize("with_stage", [True, False])
def test_command_and_window_agree(
    live: LiveCollection, collection: Collection, *, with_stage: bool
) -> None:
    """The same images, order and predicted class."""
    live.apply(live.project.policies.set_setting("collection", with_stage))
    live.rank_images_to_label(is_wanted=True)
    live.load()
    found = images_to_label(live.project, collection.caches, 5)
    assert [one.image_id for one in found] == _first(live)[:5]
    places = [live.state.position(one.image_id) for one in found]
    assert [one.class_id for one in found] == live.state.best_class[places].tolist()
    assert [one.score for one in found] == pytest.approx(live.state.best_score[places].tolist())


@pytest.mark.slow
def test_too_little_to_go_by(tmp_path: Path) -> None:
    """Each error says what to do."""
    caches = CacheFolders(tmp_path / "cache")
    with new_project(tmp_path / "few.protoleaf") as project:
        with pytest.raises(InputError, match="no images"):
            images_to_label(project, caches, 5)
        for seed in range(3):
            write_shape(tmp_path / f"{seed}.png", "Red disc", seed=seed)
        import_images(project, [tmp_path / f"{seed}.png" for seed in range(3)])
        with pytest.raises(InputError, match="no image has an embedding yet: found 3 waiting"):
            images_to_label(project, caches, 5)
        embed_project(project, caches)
        with pytest.raises(InputError, match="too few different images"):
            images_to_label(project, caches, 5)
