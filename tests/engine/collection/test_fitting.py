"""Actions do not wait for fits, which run in the background from a snapshot."""

import threading
from collections.abc import Callable

import numpy as np
import pytest

from engine.collection.embed import embed_project
from engine.collection.fitting import FitInput, FitOutcome, run_fit
from engine.collection.importing.import_images import import_images
from engine.collection.live import LiveCollection
from engine.collection.models import CARD_SETTING
from engine.collection.state import NO_CLASS
from engine.errors import Cancelled
from engine.events import CancelToken
from engine.everyday.prototypical.fit import fit
from engine.everyday.prototypical.model import EverydayModel
from engine.model_card import card_text
from engine.project import AuditItem, Change, ClassPolicy
from engine.project.labels import IN_BULK
from tests.support.collections import Collection, class_ids, write_shape
from tests.support.live_states import assert_same, fresh_state, own_copy


def _elsewhere(wanted: FitInput) -> FitOutcome:
    """Run a fit on another thread."""
    outcomes: list[FitOutcome] = []
    thread = threading.Thread(target=lambda: outcomes.append(run_fit(wanted)))
    thread.start()
    thread.join()
    return outcomes[0]


def _first_free(live: LiveCollection, count: int = 1) -> list[int]:
    return live.state.image_ids[live.state.label_class == NO_CLASS][:count].tolist()


@pytest.fixture
def never_fits(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Raises if a fit runs, until it is called."""

    def refuse(*_given: object, **_named: object) -> EverydayModel:
        raise AssertionError("a fit ran")

    monkeypatch.setattr("engine.everyday.prototypical.fit.fit", refuse)
    return lambda: monkeypatch.setattr("engine.everyday.prototypical.fit.fit", fit)


@pytest.mark.slow
def test_a_label_is_there_before_its_fit(
    live: LiveCollection, collection: Collection, never_fits: Callable[[], None]
) -> None:
    """Label and counts are updated at once, predictions by the fit, equal to a fresh opening."""
    before, red = own_copy(live.state), class_ids(live.project)["Red"]
    chosen = _first_free(live, 3)
    state = live.take(live.project.labels.set(chosen, red))
    assert live.is_behind
    assert [int(state.label_class[state.position(i)]) for i in chosen] == [red] * 3
    assert state.shot_counts[red] == before.shot_counts.get(red, 0) + 3
    np.testing.assert_array_equal(state.best_class, before.best_class)
    never_fits()
    assert_same(live.adopt(_elsewhere(live.fit_input())), fresh_state(live, collection.caches))
    assert not live.is_behind


@pytest.mark.slow
@pytest.mark.parametrize("is_stratified", [False, True])
def test_what_was_drawn_at_random_and_labelled_stands_for_the_rest(
    live: LiveCollection, *, is_stratified: bool
) -> None:
    """Audited labels count unless the audit was stratified, unanswered or accepted in bulk."""
    red, drawn = class_ids(live.project)["Red"], _first_free(live, 4)
    items = [AuditItem(each, place, red, 0.5, None, 0.0, 0, 4) for place, each in enumerate(drawn)]
    live.project.audits.add(items, 3, population=4, is_stratified=is_stratified)
    live.take(live.project.labels.set([drawn[0], drawn[3]], red))
    live.take(live.project.labels.set([drawn[1]], red, source=IN_BULK))
    assert live.fit_input().snapshot.checked == (() if is_stratified else (drawn[0],))


@pytest.mark.slow
def test_errors_that_an_audit_found_reach_the_state(live: LiveCollection) -> None:
    """Two wrong predictions of two, where hardly any error was expected, adjust the error rate."""
    red, drawn = class_ids(live.project)["Red"], _first_free(live, 2)
    items = [AuditItem(each, place, red, 0.95, red, 0.95, 0, 2) for place, each in enumerate(drawn)]
    live.project.audits.add(items, 2, population=2)
    assert live.state.error_odds == 1
    live.take(live.project.labels.set(drawn, None))
    state = live.adopt(run_fit(live.fit_input()))
    assert state.error_odds == pytest.approx(3 / 1.1)


@pytest.mark.slow
def test_opening_without_a_fit(collection: Collection, never_fits: Callable[[], None]) -> None:
    """All but predictions is loaded; predictions follow with the first fit."""
    live = LiveCollection.open(collection.project, collection.caches)
    assert not live.is_behind
    state = live.load(fits=False)
    assert (live.is_behind, live.fitted) == (True, None)
    assert (state.best_class == NO_CLASS).all()
    live.take(live.project.labels.set(_first_free(live), None))
    never_fits()
    assert_same(live.adopt(run_fit(live.fit_input())), fresh_state(live, collection.caches))
    live.close()


Act = Callable[[LiveCollection], Change | None]


@pytest.mark.slow
@pytest.mark.parametrize(
    "act",
    [
        lambda live: live.project.labels.set(
            _first_free(live, 2), class_ids(live.project)["Green disc"]
        ),
        lambda live: live.project.labels.remove(live.state.image_ids.tolist()[:5]),
        lambda live: live.project.classes.remove([class_ids(live.project)["Red checks"]]),
        lambda live: live.project.policies.set(class_ids(live.project)["Red"], ClassPolicy(0.99)),
        lambda live: live.project.policies.set_setting("collection", False),
        lambda live: live.project.policies.set_setting("setting", "prototypes"),
        lambda live: live.project.images.remove(live.state.image_ids[[2, 30]].tolist()),
        lambda live: live.project.history.undo(),
    ],
)
def test_what_happens_while_a_fit_runs_is_worked_in_by_the_next(
    live: LiveCollection, collection: Collection, act: Act
) -> None:
    """A result is applied to what still exists; the next fit includes the rest."""
    live.take(live.project.labels.set(_first_free(live), class_ids(live.project)["Blue"]))
    wanted = live.fit_input()
    change = act(live)
    assert change is not None
    live.take(change)
    state = live.adopt(_elsewhere(wanted))
    assert live.is_behind
    named = {*state.best_class.tolist(), *state.safe_class.tolist(), *state.image_counts} - {
        NO_CLASS
    }
    assert named <= set(live.project.classes.graph.classes())
    assert_same(live.adopt(run_fit(live.fit_input())), fresh_state(live, collection.caches))
    assert not live.is_behind


@pytest.mark.slow
def test_an_outcome_from_before_everything_was_read_anew_is_dropped(live: LiveCollection) -> None:
    """After a reload its rows no longer match."""
    outcome = run_fit(live.fit_input())
    state = live.load(fits=False)
    assert live.adopt(outcome) is state
    assert live.is_behind


@pytest.mark.slow
def test_the_older_of_two_outcomes_is_dropped(live: LiveCollection) -> None:
    """A newer result is never overwritten by an older one."""
    older = run_fit(live.fit_input())
    live.take(live.project.labels.set(_first_free(live), class_ids(live.project)["Blue"]))
    state = live.adopt(run_fit(live.fit_input()))
    assert live.adopt(older) is state
    assert not live.is_behind


def test_guesses_of_several_images_at_once(live: LiveCollection) -> None:
    """They equal single answers; removed images are omitted."""
    ids = live.state.image_ids[[0, 5, 40]].tolist()
    guesses = live.guesses([*ids, 10_000])
    assert list(guesses) == ids
    for image_id, guess in guesses.items():
        assert guess.label == live.project.labels.of(image_id)
        alone = live.top_classes(image_id, 9)
        assert [top.class_id for top in guess.tops] == [top.class_id for top in alone]
        np.testing.assert_allclose(
            [top.score for top in guess.tops], [top.score for top in alone], atol=1e-5
        )
        assert guess.explanation is not None
        assert guess.explanation.class_id == alone[0].class_id


@pytest.mark.slow
def test_guesses_name_no_class_that_is_gone(live: LiveCollection) -> None:
    """Removed classes are not guessed, even before the next fit."""
    gone = class_ids(live.project)["Red checks"]
    live.take(live.project.classes.remove([gone]))
    for guess in live.guesses(live.state.image_ids.tolist()).values():
        assert guess.explanation is not None
        shares = [guess.explanation.own, *guess.explanation.parents, *guess.explanation.coarse]
        assert gone not in {
            *(top.class_id for top in guess.tops),
            *(share.class_id for share in shares),
        }
        assert guess.explanation.class_id == guess.tops[0].class_id


def test_guesses_before_the_first_fit(collection: Collection) -> None:
    """Before the first fit there is at most a label."""
    live = LiveCollection.open(collection.project, collection.caches, for_writing=False)
    live.load(fits=False)
    image_id = int(live.state.image_ids[0])
    guess = live.guesses([image_id])[image_id]
    assert (guess.tops, guess.explanation, guess.label) == (
        (),
        None,
        live.project.labels.of(image_id),
    )
    live.close()


@pytest.mark.slow
def test_labels_while_a_fit_runs_on_another_thread(
    live: LiveCollection, collection: Collection
) -> None:
    """Concurrent labels and fits end in the state of a fresh opening."""
    ids, chosen = class_ids(live.project), _first_free(live, 12)
    leaves = ["Red disc", "Green disc", "Blue disc"]
    waiting: list[FitInput] = []
    outcomes: list[FitOutcome] = []
    for turn, image_id in enumerate(chosen):
        live.take(live.project.labels.set([image_id], ids[leaves[turn % 3]]))
        if not waiting:
            waiting.append(live.fit_input())
            behind = threading.Thread(target=lambda: outcomes.append(run_fit(waiting[-1])))
            behind.start()
        elif outcomes:
            behind.join()
            live.adopt(outcomes.pop())
            waiting.clear()
    behind.join()
    for outcome in outcomes:
        live.adopt(outcome)
    if live.is_behind:
        live.adopt(_elsewhere(live.fit_input()))
    assert not live.is_behind
    assert_same(live.state, fresh_state(live, collection.caches))
    assert [int(live.state.label_class[live.state.position(i)]) for i in chosen] == [
        ids[leaves[turn % 3]] for turn in range(12)
    ]


@pytest.mark.slow
def test_a_fit_that_is_stopped(live: LiveCollection, collection: Collection) -> None:
    """Nothing of a cancelled fit is applied, and the next fit is complete."""
    live.take(live.project.labels.set(_first_free(live), class_ids(live.project)["Blue"]))
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        run_fit(live.fit_input(), cancel)
    assert live.is_behind
    assert_same(live.adopt(run_fit(live.fit_input())), fresh_state(live, collection.caches))


@pytest.mark.slow
@pytest.mark.parametrize("steps", range(0, 60, 6))
def test_a_fit_that_is_stopped_on_its_way(
    live: LiveCollection, collection: Collection, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    """Wherever it is cancelled, whitening and neighbours are either old or new, and valid."""
    live.take(live.project.images.remove(live.state.image_ids[:3].tolist()))

    class Stops(CancelToken):
        left = steps

        def raise_if_cancelled(self) -> None:
            self.left -= 1
            if self.left < 0:
                raise Cancelled

    with pytest.raises(Cancelled):
        run_fit(live.fit_input(), Stops())
    live.take(live.project.labels.set(_first_free(live), class_ids(live.project)["Blue"]))
    assert_same(live.adopt(run_fit(live.fit_input())), fresh_state(live, collection.caches))


@pytest.mark.slow
def test_embeddings_that_come_while_a_fit_runs(
    live: LiveCollection, collection: Collection
) -> None:
    """New images are classified by the model fitted without them, and learned by the next fit."""
    for seed in range(3):
        write_shape(collection.folder / "new" / f"{seed}.png", "Green disc", seed=100 + seed)
    wanted = live.fit_input()
    added = import_images(live.project, [collection.folder / "new"]).change
    live.take(added)
    embed_project(live.project, collection.caches, device="cpu")
    live.take_embedded(added.images_added[:2], fits=False)
    state = live.adopt(_elsewhere(wanted))
    assert (state.best_class[-3:] != NO_CLASS).tolist() == [True, True, False]
    live.take_embedded(added.images_added[2:], fits=False)
    assert live.is_behind
    assert (live.state.best_class != NO_CLASS).all()
    for image_id in added.images_added:
        (top,) = live.top_classes(image_id, 1)
        assert top.class_id == live.state.best_class[live.state.position(image_id)]
    assert_same(live.adopt(run_fit(live.fit_input())), fresh_state(live, collection.caches))


@pytest.mark.slow
def test_another_backbone_while_a_fit_runs(live: LiveCollection) -> None:
    """The result of a fit with the previous backbone is dropped."""
    outcome = run_fit(live.fit_input())
    version = live.project.models.add(
        backbone_name="other",
        backbone_hash="d" * 64,
        settings={CARD_SETTING: card_text(live.model.card)},
    )
    state = live.take(live.project.models.choose(version.version_id))
    assert live.fit_input().classifier is not outcome.given.classifier
    assert live.adopt(outcome) is state
    assert live.fitted is None
