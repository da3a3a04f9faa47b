"""Damaged projects are refused in one line, reported as damaged, or still complete."""

import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

from engine.cli.main import main
from engine.errors import ProtoleafError
from engine.project import Project
from tests.trust.byte_damage import BYTE_DAMAGE
from tests.trust.children import Place, run_apart
from tests.trust.outcome import Fault, Outcome, Trial
from tests.trust.seen import (
    SETTING_NAMES,
    SETTINGS,
    differing,
    digest,
    everything,
    machine_part,
    people_part,
)
from tests.trust.stages import Stage
from tests.trust.survivor import check
from tests.trust.trials import OnTrial, ending_faults, named, run_trials, trial_folder
from tests.trust.value_damage import VALUE_DAMAGE, write_values

INSTRUMENT = "damaged projects"
LIMIT_S = 30.0
MEMORY_BYTES = 4_000_000_000
_MOST_STEPS = 500
_FRESH_SHARE = 0.04  # share of those also opened in a separate process, as a user does

QUESTIONS: Mapping[str, Callable[[Project], object]] = {
    "classes": lambda project: [
        project.classes.graph.path_text(class_id) for class_id in project.classes.graph.classes()
    ],
    "levels": lambda project: project.classes.graph.levels(),
    "search": lambda project: project.classes.graph.search("di"),
    "images": lambda project: project.images.records(),
    "image table": lambda project: project.images.table(),
    "paths": lambda project: list(project.images.each_path()),
    "files": lambda project: [
        project.images.resolve(record).exists() for record in project.images.records()
    ],
    "labels": lambda project: project.labels.by_image(),
    "label table": lambda project: project.labels.table(),
    "counts": lambda project: project.labels.counts(),
    "notes": lambda project: project.notes.by_image(),
    "confirmed": lambda project: project.labels.confirmations(),
    "attributes": lambda project: dict(project.classes.graph.all_attributes()),
    "policies": lambda project: project.policies.by_class(),
    "settings": lambda project: [project.policies.setting(name) for name in SETTING_NAMES],
    "model": lambda project: project.models.current,
    "versions": lambda project: project.models.versions(),
    "model files": machine_part,
    "predictions": lambda project: [project.models.predictions(setting) for setting in SETTINGS],
    "history": lambda project: project.history.steps(10_000),
    "undo text": lambda project: (
        str(project.history.undo_action),
        str(project.history.redo_action),
    ),
    "faults": lambda project: project.check(),
}


@dataclass(frozen=True)
class Damaged:
    """One trial.

    Attributes:
        how: name of a damage to bytes, or SQL statements.
    """

    how: str
    seed: int


@dataclass
class Findings:
    """Results of an examination so far."""

    faults: list[Fault] = field(default_factory=list)

    @contextmanager
    def guarded(self, doing: str) -> Iterator[None]:
        """Accept one of our errors; anything else is a fault."""
        sys.stderr.write(f"{doing}\n")  # the last line shows where it hangs
        sys.stderr.flush()
        try:
            yield
        except ProtoleafError as error:
            if "\n" in str(error):
                self.faults.append(Fault("other", f"{doing}: an error of several lines"))
        except Exception as error:  # noqa: BLE001 (recorded)
            self.faults.append(
                Fault("traceback", f"{doing}: {type(error).__name__}: {str(error)[:200]}")
            )


def damage_many(
    stage: Stage, count: int, *, seed: int, on_trial: OnTrial = lambda: None
) -> Outcome:
    """Damage copies of the project and examine each.

    Args:
        stage: what they start from.
        count: trials; half of them damage bytes, half values.
        seed: of the random generator.
        on_trial: called after each trial.
    """
    chance = Random(seed)
    values = chance.sample(VALUE_DAMAGE, len(VALUE_DAMAGE))
    bytewise = list(BYTE_DAMAGE)
    kinds = [
        kind for pair in zip(cycle(values), cycle(bytewise), range(count)) for kind in pair[:2]
    ]
    plans = [Damaged(kind, seed * 1_000_000 + place) for place, kind in enumerate(kinds[:count])]
    return run_trials(INSTRUMENT, plans, lambda plan: damage_one(stage, plan), on_trial)


def damage_one(stage: Stage, plan: Damaged) -> Trial:
    """Damage a copy and examine it."""
    with trial_folder(stage.folder) as folder:
        place = stage.lay(folder, with_caches=True)
        run_apart(place, make_damage, place, stage.older, plan)
        ending = run_apart(place, examine, place, stage, plan.seed, limit_s=LIMIT_S)
        found = [*(ending.answer or ()), *ending_faults(ending, "examining it", place.output())]
        return Trial(0, named(found, f"{plan.how[:90]}, seed {plan.seed}"), ending.peak_bytes)


def make_damage(place: Place, older: Path, plan: Damaged) -> None:
    """Damage the project of a place, in a child."""
    chance = Random(plan.seed)
    if damage := BYTE_DAMAGE.get(plan.how):
        content = damage(bytearray(place.project.read_bytes()), older.read_bytes(), chance)
        place.project.write_bytes(content)
    else:
        write_values(place.project, plan.how, chance)


def examine(place: Place, stage: Stage, seed: int) -> Sequence[Fault]:
    """Read everything of a possibly damaged project, in a child.

    Args:
        place: of the project.
        stage: what it was made from.
        seed: of the random generator.
    """
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    findings, chance, facts = Findings(), Random(seed), stage.facts()
    before = listing(place.desk)
    is_sound = False
    with findings.guarded("check"):
        verdict = check(place.project)
        is_sound = verdict.is_sound
    _note_changes(findings, "check", before, place)
    if chance.random() < _FRESH_SHARE:
        _ask_fresh(findings, place, is_sound=is_sound)
    is_same = _read(findings, place, facts["everything"], is_sound=is_sound)
    _note_changes(findings, "reading", before, place)
    _work_on_copy(findings, place, facts["steps_back"] if is_sound and is_same else None)
    _run_commands(findings, place, chance)
    return findings.faults


def listing(folder: Path) -> Mapping[str, str]:
    """Digest of each file of a folder, by name."""
    return {path.name: blake2b(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def _note_changes(findings: Findings, doing: str, before: Mapping[str, str], place: Place) -> None:
    if (after := listing(place.desk)) != before:
        names = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
        findings.faults.append(Fault("other", f"{doing} changed or left {', '.join(names)}"))


def _read(findings: Findings, place: Place, original: Mapping[str, Any], *, is_sound: bool) -> bool:
    """Read everything; return whether it is unchanged."""
    content, refusal = None, "it cannot be opened"
    with (
        findings.guarded("opening for reading"),
        Project.open(place.project, for_writing=False) as project,
    ):
        for name, ask in QUESTIONS.items():
            with findings.guarded(f"asking for {name}"):
                ask(project)
        try:
            content = everything(project)
        except ProtoleafError as error:
            refusal = str(error)
        except Exception as error:  # noqa: BLE001 (recorded above)
            refusal = type(error).__name__
    is_same = content is not None and digest(content) == digest(original)
    if is_sound and not is_same:
        how = refusal if content is None else f"differs in {differing(original, content)}"
        findings.faults.append(Fault("wrong", f"called sound, but {how[:300]}"))
    return is_same


def _work_on_copy(findings: Findings, place: Place, steps_back: Sequence[str] | None) -> None:
    """Undo and redo everything in a copy; in a valid project each step must be unchanged."""
    desk = place.folder / "copy"
    desk.mkdir()
    copy = desk / place.project.name
    shutil.copyfile(place.project, copy)
    is_open, walked = False, []
    with findings.guarded("working on a copy"), Project.open(copy) as project:
        is_open = True
        walked = _walk(project, findings)
        with findings.guarded("labelling"):
            project.labels.set(list(project.images.table().ids)[:3], None)
        with findings.guarded("adding a class"):
            project.classes.add("after it")
    if steps_back is not None and walked != steps_back:
        findings.faults.append(Fault("wrong", "called sound, but undo leads elsewhere than before"))
    left = sorted(path.name for path in desk.iterdir() if path != copy and path.suffix != ".lock")
    if left and not is_open:
        findings.faults.append(
            Fault("other", f"an opening that was refused left {', '.join(left)}")
        )


def _walk(project: Project, findings: Findings) -> list[str]:
    """Digest of people's work now and after each undo; then redo everything."""
    walked: list[str] = []
    with findings.guarded("undo"):
        walked.append(digest(people_part(project)))
        while len(walked) < _MOST_STEPS and project.history.undo() is not None:
            walked.append(digest(people_part(project)))
    with findings.guarded("redo"):
        for _ in walked:
            project.history.redo()
    return walked


def _ask_fresh(findings: Findings, place: Place, *, is_sound: bool) -> None:
    words = [sys.executable, "-m", "app", "check", str(place.project)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    if "Traceback" in done.stderr or done.returncode not in {0, 1}:
        findings.faults.append(
            Fault("traceback", f"`check` ended with {done.returncode}: {done.stderr[-200:]}")
        )
    if (done.returncode == 0) != is_sound or done.stderr.count("\n") > 1:
        findings.faults.append(
            Fault("other", f"`check` in a process of its own says otherwise: {done.stderr[-200:]}")
        )


def _run_commands(findings: Findings, place: Place, chance: Random) -> None:
    out = place.folder / "predictions.csv"
    command = chance.choice(
        (("versions",), ("classify", "-o", out), ("embed", "--device", "cpu"), ("versions",))
    )
    words = [command[0], str(place.project), *map(str, command[1:])]
    with findings.guarded(f"the command {command[0]}"):
        main(words)
