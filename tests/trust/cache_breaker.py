"""Damage to the cached files of a large collection: invalid ones must not be used."""

import os
import shutil
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

from engine.collection.live import LiveCollection
from engine.config import CacheFolders
from tests.trust.acknowledge import Log, read_log
from tests.trust.byte_damage import BYTE_DAMAGE
from tests.trust.cache_shown import SUFFIXES, cache_faults, cache_files, open_once
from tests.trust.children import Place, run_apart
from tests.trust.large_projects import fit_as_window, take_for_large
from tests.trust.large_work import act, label, note_shown, work_once
from tests.trust.outcome import Fault, Outcome, Trial
from tests.trust.stages import Stage
from tests.trust.survivor import survivor_faults
from tests.trust.trials import OnTrial, ending_faults, named, run_trials, trial_folder

INSTRUMENT = "cache files of large collections"
LIMIT_S = 120.0
_SMALL = (
    "bits flipped",
    "bytes overwritten",
    "cut off",
    "something appended",
    "another file",
)
_KEEPING = frozenset(
    {
        "mapped_cache.py",
        "image_list_cache.py",
        "prediction_cache.py",
        "live_basis.py",
        "embedding_rows.py",
        "new_file.py",
    }
)
_MOST_STEPS = 1_500  # calls and returns in these modules in a session


@dataclass(frozen=True)
class Breaking:
    """One trial: the damage, and the kind of cached file; "" for all files or the project."""

    how: str
    suffix: str
    seed: int


def break_caches(
    stage: Stage, count: int, *, seed: int, on_trial: OnTrial = lambda: None
) -> Outcome:
    """Damage cached files a number of times.

    Args:
        stage: what they start from.
        count: trials.
        seed: of the random generator.
        on_trial: called after each trial.
    """
    chance = Random(seed)
    kinds = [
        *product((*BYTE_DAMAGE, *_FILES), SUFFIXES),
        *((how, "") for how in _SCENES for _ in range(3)),
    ]
    kinds = [
        (how, suffix) for how, suffix in kinds if suffix != ".digest" or how in {*_SMALL, *_FILES}
    ]
    chance.shuffle(kinds)
    plans = [
        Breaking(*kinds[place % len(kinds)], seed * 1_000_000 + place) for place in range(count)
    ]
    return run_trials(INSTRUMENT, plans, lambda plan: break_one(stage, plan), on_trial)


def break_one(stage: Stage, plan: Breaking) -> Trial:
    """Work with a project until files are cached, damage them, and check the results."""
    name = f"{plan.how} {plan.suffix}, seed {plan.seed}"
    with trial_folder(stage.folder) as folder:
        place = stage.lay(folder, with_caches=True, project=stage.large)
        faults: list[Fault] = []
        before = run_apart(place, prepare, place, stage, plan.seed, limit_s=LIMIT_S)
        faults += ending_faults(before, "working with it", place.output())
        scene = _SCENES.get(plan.how, break_file)
        during = run_apart(place, scene, place, plan, limit_s=LIMIT_S)
        if during.exit_code != -signal.SIGKILL:
            faults += ending_faults(during, "what happens to it", place.output())
        looking = run_apart(place, look, place, stage, plan, before.answer, limit_s=LIMIT_S)
        faults += [
            *ending_faults(looking, "looking at what it shows", place.output()),
            *(looking.answer or ()),
        ]
        acknowledged = sum(line.kind == "done" for line in read_log(place.log))
        return Trial(acknowledged, named(faults, name), max(before.peak_bytes, looking.peak_bytes))


def prepare(place: Place, stage: Stage, seed: int) -> Any:
    """Two sessions of the project and one of another, each writing cached files; in a child.

    Returns:
        Results of the project with its cached files.
    """
    take_for_large()
    chance, log = Random(seed), Log(place.log)
    work_once(place, log, chance)
    _keep_older(place)
    work_once(place, log, chance)
    ours, other = set(cache_files(_collections())), _other_project(place)
    other.parent.mkdir()
    shutil.copyfile(stage.other_large, other)
    open_once(other, closes=True)
    for path in set(cache_files(_collections())) - ours:
        path.rename(other.with_suffix(path.suffix))
    return open_once(place.project).columns


def _keep_older(place: Place) -> None:
    shutil.copytree(_collections(), place.folder / "older")
    shutil.copyfile(place.project, _older_project(place))
    shutil.copyfile(place.log, place.folder / "older.jsonl")


def look(place: Place, stage: Stage, plan: Breaking, sound: Any) -> Sequence[Fault]:
    """Check acknowledged work and results; in a child."""
    start, lines, other_lines = (
        str(stage.facts()["large"]),
        read_log(place.log),
        read_log(_other_future(place)),
    )
    if plan.how == "another project under its name":
        start = str(stage.facts()["other"])
    is_same = plan.how in {*BYTE_DAMAGE, *_FILES}
    also = [line for line in other_lines if line.kind == "shown"]
    asks = partial(
        cache_faults,
        also=also,
        others=[sound] if is_same else [],
        trusts_basis=plan.how not in BYTE_DAMAGE,
    )
    return survivor_faults(place, lines, start, asks)


# -- damage to one file


def break_file(place: Place, plan: Breaking) -> None:
    """Damage, delete or exchange the cached file of a kind."""
    (path,) = _collections().glob(f"*{plan.suffix}")
    content, older = path.read_bytes(), _older(place, path)
    if damage := BYTE_DAMAGE.get(plan.how):
        path.write_bytes(damage(bytearray(content), older, Random(plan.seed)))
        return
    new = _FILES[plan.how](place, path)
    path.unlink()
    if new is not None:
        path.write_bytes(new)


def _older(place: Place, path: Path) -> bytes:
    """The file of that kind after the first session; no rows if images had been removed."""
    found = next((place.folder / "older").glob(f"*{path.suffix}"), path)
    return found.read_bytes()


def _of_another(place: Place, path: Path) -> bytes:
    return _other_project(place).with_suffix(path.suffix).read_bytes()


_FILES: Mapping[str, Callable[[Place, Path], bytes | None]] = {
    "deleted": lambda *_where: None,
    "of an older moment": _older,
    "of another project": _of_another,
}


# -- damage to all


def _all_older(place: Place, plan: Breaking) -> None:
    shutil.rmtree(_collections())
    shutil.copytree(place.folder / "older", _collections())


def _exchanged_while_open(place: Place, plan: Breaking) -> None:
    """Exchange cached files before the project, with new labels only, is closed."""
    take_for_large()
    log, chance = Log(place.log), Random(plan.seed + 1)
    live = LiveCollection.open(place.project, CacheFolders.default())
    live.load_list()
    live.load(fits=False)
    label(live, log, chance)
    fit_as_window(live, chance)
    for path in cache_files(_collections()):
        new = chance.choice((_older, _of_another))(place, path)
        path.unlink()
        path.write_bytes(new)
    note_shown(live, log)
    live.close()


def _another_project(place: Place, plan: Breaking) -> None:
    shutil.copyfile(_other_project(place), place.project)
    place.log.unlink()


def _older_copy(place: Place, plan: Breaking) -> None:
    """Restore an older project, change it, and kill it: the cached files are newer."""
    shutil.copyfile(_older_project(place), place.project)
    place.log.rename(_other_future(place))
    shutil.copyfile(place.folder / "older.jsonl", place.log)
    take_for_large()
    log, chance = Log(place.log), Random(plan.seed + 1)
    live = LiveCollection.open(place.project, CacheFolders.default())
    live.load(fits=False)
    for _ in range(8):
        act(live, log, chance)
    os.kill(os.getpid(), signal.SIGKILL)


def _killed_while_keeping(place: Place, plan: Breaking) -> None:
    """A session killed at a random step of the modules that write cached files."""
    take_for_large()
    left = Random(plan.seed).randrange(1, _MOST_STEPS)

    def watch(frame: FrameType, event: str, argument: object) -> None:
        nonlocal left
        if os.path.basename(frame.f_code.co_filename) in _KEEPING:  # noqa: PTH119 (speed)
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(watch)
    work_once(place, Log(place.log), Random(plan.seed + 1))
    sys.setprofile(None)


_SCENES: Mapping[str, Callable[[Place, Breaking], None]] = {
    "all of an older moment": _all_older,
    "exchanged while it is open": _exchanged_while_open,
    "another project under its name": _another_project,
    "an older copy under its name": _older_copy,
    "killed while cache files are written": _killed_while_keeping,
}


# -- paths


def _collections() -> Path:
    return CacheFolders.default().collections


def _other_project(place: Place) -> Path:
    """Another project, whose cached files are in the same folder."""
    return place.folder / "elsewhere" / "other.protoleaf"


def _older_project(place: Place) -> Path:
    return place.folder / "older.protoleaf"


def _other_future(place: Place) -> Path:
    """Acknowledgements from before an older copy was restored."""
    return place.folder / "other future.jsonl"
