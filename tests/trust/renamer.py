"""Rename, replace, delete and link files while they are open, or after a kill.

No acknowledged action is lost without an error, there is never a second writer, and a restored
older copy stays unchanged.
"""

from dataclasses import dataclass
from random import Random

from tests.trust.acknowledge import read_log
from tests.trust.outcome import Outcome, Trial
from tests.trust.scenes import SCENES, Scene
from tests.trust.stages import Stage
from tests.trust.trials import OnTrial, named, run_trials, trial_folder

INSTRUMENT = "renames and replacements"


@dataclass(frozen=True)
class Move:
    """One trial: the scene and the seed."""

    name: str
    seed: int


def move_many(stage: Stage, count: int, *, seed: int, on_trial: OnTrial = lambda: None) -> Outcome:
    """Play scenes in sequence.

    Args:
        stage: of the project.
        count: trials.
        seed: of the random generator.
        on_trial: called after each trial.
    """
    names = list(SCENES)
    plans = [Move(names[place % len(names)], seed * 1_000_000 + place) for place in range(count)]
    return run_trials(INSTRUMENT, plans, lambda plan: move_one(stage, plan), on_trial)


def move_one(stage: Stage, move: Move) -> Trial:
    """Play one scene."""
    with trial_folder(stage.folder) as folder:
        scene = Scene(stage.lay(folder), stage, Random(move.seed))
        SCENES[move.name](scene)
        acknowledged = sum(line.kind == "done" for log in scene.logs for line in read_log(log))
        return Trial(
            acknowledged, named(scene.faults, f"{move.name}, seed {move.seed}"), scene.peak_bytes
        )
