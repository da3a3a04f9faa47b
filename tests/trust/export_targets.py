"""Commands whose output path leads to files that must not be replaced."""

import contextlib
import io
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from engine import new_file
from engine.cli.main import main
from engine.config import BACKUPS_VARIABLE, CACHE_VARIABLE, CacheFolders
from engine.exporting.export_graph import GRAPH_FORMATS
from engine.interchange.labelled_images.formats import FORMATS
from tests.trust.children import Place, run_apart
from tests.trust.hostile_targets import (
    FOREIGN_TEXT,
    REPLACEABLE,
    TARGETS,
    World,
    build_world,
    clear_desk,
)
from tests.trust.outcome import Fault, Outcome, Trial
from tests.trust.stages import Stage
from tests.trust.trials import PROCESSES, OnTrial, ending_faults, run_trials, trial_folder

INSTRUMENT = "targets of exports"
BATCH = 125
TRIAL_LIMIT_S = 20.0
_START_S = 60.0
_NO_OVERWRITE = frozenset({"backup"})
"""Commands that never replace files."""


@dataclass(frozen=True)
class Batch:
    """Trials of one child, by seed."""

    first: int
    count: int


def aim_many(stage: Stage, count: int, *, seed: int, on_trial: OnTrial = lambda: None) -> Outcome:
    """Run commands with hostile output paths.

    Args:
        stage: for its scratch folder.
        count: commands.
        seed: of the random generator.
        on_trial: called after each batch.
    """
    size = min(BATCH, max(1, -(-count // PROCESSES)))
    first = seed * 1_000_000
    plans = [Batch(first + start, min(size, count - start)) for start in range(0, count, size)]
    row = run_trials(INSTRUMENT, plans, lambda plan: _aim_apart(stage, plan, on_trial))
    return Outcome(row.instrument, count, row.acknowledged, row.faults, row.peak_bytes)


def _aim_apart(stage: Stage, batch: Batch, on_trial: OnTrial) -> Trial:
    with trial_folder(stage.folder) as folder:
        folder.mkdir()
        place = Place(folder)
        ending = run_apart(
            place, aim_some, place, batch, limit_s=_START_S + TRIAL_LIMIT_S * batch.count
        )
        faults, done = ending.answer or ([], 0)
        if ending.answer is None:
            faults = ending_faults(ending, f"targets from seed {batch.first}", place.output())
        for _ in range(batch.count):
            on_trial()
        return Trial(done, tuple(faults), ending.peak_bytes)


def aim_some(place: Place, batch: Batch) -> tuple[list[Fault], int]:
    """Run the commands of a batch in a child; return faults, and the number of successes."""
    os.environ[CACHE_VARIABLE], os.environ[BACKUPS_VARIABLE] = (
        str(place.caches),
        str(place.folder / "kept"),
    )
    new_file.READER_WAIT_S = 0.1  # a person waits longer
    world = build_world(place.folder / "world", CacheFolders(place.caches))
    shutil.copytree(world.folder, place.folder / "sound")
    faults: list[Fault] = []
    done = 0
    for seed in range(batch.first, batch.first + batch.count):
        found, status = aim(world, Random(seed))
        faults += [Fault(fault.kind, f"seed {seed}, {fault.text}") for fault in found]
        done += status == 0
        if any(fault.kind == "wrong" for fault in found):
            shutil.rmtree(world.folder)
            shutil.copytree(place.folder / "sound", world.folder)
    return faults, done


def aim(world: World, chance: Random) -> tuple[list[Fault], int]:
    """Run one command at one target, and check all files."""
    clear_desk(world)
    kind = chance.choice(tuple(TARGETS))
    before, people = world.sums(), world.people()
    target = TARGETS[kind](world)
    words = _command(world, chance, str(target))
    is_overwriting = words[0] not in _NO_OVERWRITE and chance.random() < 1 / 2
    words += ["--overwrite"] * is_overwriting
    doing = f"{' '.join(words[:1] + [word for word in words[2:] if word != str(target)])} at {kind}"
    errors = io.StringIO()
    status = -1
    try:
        with (
            contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())),
            contextlib.redirect_stderr(errors),
        ):
            status = main(words)
    except (Exception, SystemExit) as error:  # noqa: BLE001 (recorded)
        return [Fault("traceback", f"{doing}: {type(error).__name__}: {str(error)[:200]}")], status
    after = world.sums()
    faults = [
        Fault("wrong", f"{doing}: {path.name} was replaced")
        for path, value in before.items()
        if after.get(path) != value
    ]
    faults += _faults_on_desk(world, kind, doing, is_overwriting=is_overwriting)
    try:
        is_same = world.people() == people
    except Exception:  # noqa: BLE001 (not a project any more)
        is_same = False
    faults += [] if is_same else [Fault("wrong", f"{doing}: the project was replaced")]
    if kind == "a new name" and status != 0:
        faults.append(Fault("other", f"{doing}: refused: {errors.getvalue()[:200]}"))
    _tidy(world, before)
    return faults, status


def _faults_on_desk(world: World, kind: str, doing: str, *, is_overwriting: bool) -> list[Fault]:
    mine = next(
        (
            path
            for path in (world.desk / "mine.csv", world.desk / "folder" / "mine.csv")
            if path.exists()
        ),
        None,
    )
    faults = []
    if kind in {"a file of others", "a folder with files of others"}:
        is_asked = is_overwriting and kind in REPLACEABLE
        if not is_asked and (mine is None or mine.read_bytes() != FOREIGN_TEXT.encode()):
            faults.append(Fault("wrong", f"{doing}: it was replaced"))
    hard = world.desk / "hard.csv"
    if kind.startswith("a hard link") and not (is_overwriting and kind in REPLACEABLE):
        real = {"a hard link to a photo": world.photo, "a hard link to the project": world.project}
        if not hard.exists() or not hard.samefile(real.get(kind, world.foreign)):
            faults.append(Fault("wrong", f"{doing}: the other name was replaced"))
    return faults


def _command(world: World, chance: Random, target: str) -> list[str]:
    project = str(world.project)
    images = chance.choice(("verified", "sure"))
    ways: tuple[Callable[[], list[str]], ...] = (
        lambda: ["export", project, chance.choice(tuple(FORMATS)), target, "--images", images],
        lambda: [
            "export",
            project,
            chance.choice(("csv", "jsonl", "coco", "parquet")),
            target,
            "--images",
            images,
        ],
        lambda: ["export", project, "model", target],
        lambda: ["export-graph", project, target, "--format", chance.choice(tuple(GRAPH_FORMATS))],
        lambda: ["classify", project, "-o", target],
        lambda: ["classify", str(world.photo), "--model", str(world.model), "-o", target],
        lambda: ["backup", project, "--to", target],
    )
    weights = (4, 4, 1, 4, 3, 1, 1)
    words = chance.choices(ways, weights)[0]()
    return _for_folders(world, words, target)


def _for_folders(world: World, words: list[str], target: str) -> list[str]:
    """A new name if the command needs an existing folder."""
    needs_folder = words[0] == "backup" or (words[0] == "export" and words[2] == "xmp")
    if needs_folder and target == str(world.desk / "new.csv"):
        Path(target).mkdir()
    return words


def _tidy(world: World, before: dict[Path, str]) -> None:
    """Remove sidecars and new files next to the originals."""
    for path in set(world.sums()) - set(before):
        path.unlink(missing_ok=True)
    for path in (world.folder / "nowhere",):
        shutil.rmtree(path, ignore_errors=True)
        path.unlink(missing_ok=True) if path.is_file() else None
