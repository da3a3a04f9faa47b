"""Three copies of one project, merged in random orders: no wrong class, no silent loss.

In each copy classes are added, moved, renamed, merged, split and removed, and labels set; some
copies are of the version before identities. See `trio_copies` for how the truth is known.
"""

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from engine.merging.merge import Merge, merge
from engine.project import ImageId, Project
from tests.trust.children import Place, own_peak_bytes, run_apart
from tests.trust.outcome import Fault, Outcome, Trial
from tests.trust.stages import Stage
from tests.trust.trials import PROCESSES, OnTrial, ending_faults, run_trials, trial_folder
from tests.trust.trio_copies import Copy, GivenLabel, Truth, contents_in, labels_in, make_base

INSTRUMENT = "three copies merged"
BATCH = 25
TRIO_LIMIT_S = 20.0
PEOPLE = ("ann", "bob", "cleo")


@dataclass(frozen=True)
class Batch:
    """Trios of one child, by seed."""

    first: int
    count: int


@dataclass(frozen=True)
class Side:
    """Labels and contents of a copy by image, before or after a merge."""

    labels: Mapping[ImageId, GivenLabel]
    contents: Mapping[ImageId, bytes]
    files: Mapping[ImageId, str]


def merge_many(stage: Stage, count: int, *, seed: int, on_trial: OnTrial = lambda: None) -> Outcome:
    """Merge trios.

    Args:
        stage: for its scratch folder.
        count: trios.
        seed: of the random generator.
        on_trial: called after each trio.
    """
    size = min(BATCH, max(1, count // PROCESSES))
    first = seed * 10_000_000
    plans = [Batch(first + start, min(size, count - start)) for start in range(0, count, size)]
    row = run_trials(INSTRUMENT, plans, lambda plan: merge_some(stage, plan, on_trial))
    return Outcome(row.instrument, count, row.acknowledged, row.faults, row.peak_bytes)


def merge_some(stage: Stage, batch: Batch, on_trial: OnTrial = lambda: None) -> Trial:
    """Run the trios of a batch in a child."""
    with trial_folder(stage.folder) as folder:
        folder.mkdir()
        place = Place(folder)
        ending = run_apart(place, try_some, folder, batch, limit_s=TRIO_LIMIT_S * batch.count)
        for _ in range(batch.count):
            on_trial()
        if ending.answer is None:
            return Trial(
                0, tuple(ending_faults(ending, f"trios from seed {batch.first}", place.output()))
            )
        faults, merged, peak = ending.answer
        return Trial(merged, faults, peak)


def try_some(folder: Path, batch: Batch) -> tuple[tuple[Fault, ...], int, int]:
    """Run trios in sequence; return faults, the number of labels, and peak memory."""
    faults: list[Fault] = []
    came = 0
    for seed in range(batch.first, batch.first + batch.count):
        try:
            found, labels = try_one(folder / "trio", seed)
        except Exception as error:  # noqa: BLE001 (recorded)
            found, labels = [Fault("traceback", f"{type(error).__name__}: {str(error)[:300]}")], 0
        faults += [Fault(fault.kind, f"seed {seed}: {fault.text}", fault.count) for fault in found]
        came += labels
        shutil.rmtree(folder / "trio", ignore_errors=True)
    return tuple(faults), came, own_peak_bytes()


def try_one(folder: Path, seed: int) -> tuple[list[Fault], int]:
    """One trio; return faults and the number of merged labels."""
    chance, truth = Random(seed), Truth()
    base = make_base(folder / "base" / "p.protoleaf", truth, chance)
    copies = [base.copied_to(folder / person / "p.protoleaf", person) for person in PEOPLE]
    for copy in copies:
        copy.work(chance.randint(2, 14))
        if chance.random() < 0.4 and not copy.has_boxes:
            copy.save_as_older()
    faults: list[Fault] = []
    came = 0
    for _ in range(chance.randint(2, 5)):
        ours, theirs = chance.sample(copies, 2)
        found, labels = _merged(ours, theirs, truth)
        faults += found
        came += labels
        chance.choice(copies).work(chance.randint(0, 5))
    return faults, came


def _merged(ours: Copy, theirs: Copy, truth: Truth) -> tuple[list[Fault], int]:
    with theirs.open() as project:
        there = _side(project)
    with ours.open() as project:
        before = _side(project)
        done = merge(project, theirs.path)
        after = _side(project)
        knew = set(ours.seen)
        ours.note(project)
        faults = [Fault("other", line) for line in project.check()]
    groups = truth.groups()
    faults += _wrong(before, there, after, groups)
    faults += _vanished(there, after, done, knew, groups)
    doing = f"{theirs.person} into {ours.person}"
    return [
        Fault(fault.kind, f"{doing}: {fault.text}", fault.count) for fault in faults
    ], done.labelled


def _side(project: Project) -> Side:
    table = project.images.table()
    return Side(
        labels_in(project),
        dict(contents_in(project)),
        dict(zip(table.ids, table.paths, strict=True)),
    )


def _wrong(before: Side, there: Side, after: Side, groups: Mapping[str, str]) -> Iterator[Fault]:
    """Labels that are invented, on a wrong class, or missing."""
    given = {(label.content, label.signature): label.token for label in there.labels.values()}
    for image_id, label in after.labels.items():
        own = before.labels.get(image_id)
        expected = given.get((label.content, label.signature)) if own is None else own.token
        if expected is None or (own is not None and own.signature != label.signature):
            yield Fault("wrong", f"image {image_id} got a label that nobody gave: {label}")
        elif groups.get(expected, expected) != groups.get(label.token, label.token):
            yield Fault("wrong", f"{label} was given as {expected}")
    for image_id in before.labels.keys() - after.labels.keys():
        yield Fault("lost", f"ours of image {image_id}: {before.labels[image_id]}")


def _vanished(
    there: Side,
    after: Side,
    done: Merge,
    knew: set[tuple[bytes, tuple[str, str]]],
    groups: Mapping[str, str],
) -> Iterator[Fault]:
    """Labels of the other copy neither merged nor listed, except those overruled here knowingly."""
    here = {
        (label.content, groups.get(label.token, label.token)) for label in after.labels.values()
    }
    disputed = {(after.contents[each.image_id], each.theirs.who) for each in done.conflicts}
    waiting = Counter({each.theirs: each.labels for each in done.plan.waiting})
    absent = {each.image_id for each in done.plan.missing}
    absent_files = {there.files[each.image_id] for each in done.plan.missing if not each.part}
    for image_id, label in there.labels.items():
        is_here = (label.content, groups.get(label.token, label.token)) in here
        is_absent = image_id in absent or there.files[image_id] in absent_files
        is_listed = is_absent or (label.content, label.signature[0]) in disputed
        if is_here or is_listed or (label.content, label.signature) in knew:
            continue
        waiting[label.class_path] -= 1
        if waiting[label.class_path] < 0:
            yield Fault("lost", f"theirs of image {image_id}: {label}")
