"""Kill a child at a random moment: every acknowledged action must be there."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.trust.acknowledge import read_log
from tests.trust.activities import Activity, possible_activities, run_activity
from tests.trust.children import Child, Place, run_apart
from tests.trust.outcome import Fault, Outcome, Trial
from tests.trust.stages import Stage
from tests.trust.survivor import stray_fault, survivor_faults
from tests.trust.trials import OnTrial, ending_faults, named, run_trials, trial_folder

INSTRUMENT = "kills"
_WHOLE_LIFE_S = 120.0
_BEYOND = 1.05  # some are killed after they ended


@dataclass(frozen=True)
class Kill:
    """One trial: what is killed, and when."""

    activity: Activity
    after_s: float
    seed: int


def kill_many(
    stage: Stage,
    count: int,
    *,
    seed: int,
    names: Sequence[str] = (),
    on_trial: OnTrial = lambda: None,
) -> Outcome:
    """Kill activities, each at least once, others by weight.

    Args:
        stage: what they start from.
        count: trials.
        seed: of the random generator.
        names: only these activities.
        on_trial: called after each trial.
    """
    chosen = [each for each in possible_activities() if not names or each.name in names]
    chance = Random(seed)
    picked = [
        *chosen,
        *chance.choices(chosen, [each.weight for each in chosen], k=max(0, count - len(chosen))),
    ]
    lives = {each.name: life_s(stage, each, seed) for each in chosen}
    plans = [
        Kill(activity, chance.random() * _BEYOND * lives[activity.name], seed * 1_000_000 + place)
        for place, activity in enumerate(picked[:count])
    ]
    return run_trials(INSTRUMENT, plans, lambda plan: kill_one(stage, plan), on_trial)


def life_s(stage: Stage, activity: Activity, seed: int) -> float:
    """Duration of an activity without a kill, with start and end."""
    with trial_folder(stage.folder) as folder:
        place = _laid(stage, activity, folder)
        start = time.monotonic()
        ending = run_apart(
            place, run_activity, activity.run, place, stage, seed, limit_s=_WHOLE_LIFE_S
        )
        if faults := ending_faults(ending, activity.name, place.output()):
            raise RuntimeError(f"without being killed, {faults[0].text}")
        return time.monotonic() - start


def kill_one(stage: Stage, kill: Kill) -> Trial:
    """Start an activity, kill it, and check the project."""
    name = f"{kill.activity.name}, seed {kill.seed}, killed after {kill.after_s:.3f} s"
    with trial_folder(stage.folder) as folder:
        place = _laid(stage, kill.activity, folder)
        child = Child(place, run_activity, kill.activity.run, place, stage, kill.seed)
        faults: list[Fault] = []
        if child.ended_within(kill.after_s):
            ending = child.ending()
            peak = ending.peak_bytes
            faults += ending_faults(ending, "before it was killed", place.output())
        else:
            peak = child.kill()
        looking = run_apart(place, look, place, kill.activity.start_digest(stage))
        faults += ending_faults(looking, "looking at what is left", place.output())
        faults += [*(looking.answer or ()), *stray_fault(place)]
        acknowledged = sum(line.kind == "done" for line in read_log(place.log))
        return Trial(acknowledged, named(faults, name), max(peak, looking.peak_bytes))


def look(place: Place, start: str) -> list[Fault]:
    """Faults of the project of a place, in the child."""
    return survivor_faults(place, read_log(place.log), start)


def _laid(stage: Stage, activity: Activity, folder: Path) -> Place:
    return stage.lay(folder, with_caches=activity.with_caches, project=activity.start(stage))
