"""Kill, stop and starve reader processes of a device, and run again.

Afterwards every valid photo has the embedding of an undisturbed run, every invalid one its reason,
a killed reader has cost at most its current file, and no process, shared memory or temporary file
is left.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from engine.embedding.cache import EmbeddingCache
from engine.embedding.messages import EmbedRequest
from engine.embedding.pipeline import embed_files
from engine.images.read_file import content_hash
from engine.model_card import read_card
from engine.runtime.backbone import BackboneSession
from engine.runtime.providers import CPU_CHOICE
from tests.support.backbones import WIDTH, write_tiny_backbone
from tests.support.device_owner import NOTHING_LACKS, Shortage
from tests.support.images import png_declaring, write_jpeg
from tests.trust.children import Child, Place
from tests.trust.outcome import Fault, Outcome, Trial
from tests.trust.photo_importer import IDENTITY, Import, Run, embed_photos
from tests.trust.reader_scene import Scene, remains
from tests.trust.stages import Stage
from tests.trust.trials import OnTrial, ending_faults, named, run_trials, trial_folder

INSTRUMENT = "readers killed, hung and starved"
PHOTOS = 260
BROKEN: Mapping[int, bytes] = {
    20: b"",
    71: b"rotten",
    122: b"\xff\xd8\xffno picture",
    173: png_declaring(90_000, 90_000),
}
TWINS = range(9, PHOTOS, 17)  # duplicates of the previous photo
ABSENT = PHOTOS  # the last file is missing
LIMIT_S = 90.0
_START_S = 3.0  # for an import to start its readers
_SLOW = Shortage(reader=("slowly",))
_IMPATIENT = replace(_SLOW, hangs_s=3.0)  # longer than a reader's start on a busy machine
_SLOT_BYTES = 60_000  # somewhat more than one reader's share here, of 32 pixels


@dataclass(frozen=True)
class Way:
    """A way to disturb an import.

    Attributes:
        deeds: disturbances at random moments.
        shortage: of the owner of the readers.
        names: of some photos, which affect their readers.
        again: shortage of the second run's owner; a surviving owner keeps its own.
    """

    deeds: tuple[str, ...] = ()
    shortage: Shortage = _SLOW
    names: tuple[str, ...] = ()
    again: Shortage = NOTHING_LACKS


def _killed(*deeds: str) -> Way:
    """Disturbances after which a surviving owner can continue."""
    return Way(deeds, again=_SLOW)


WAYS: Mapping[str, Way] = {
    "a reader is killed": _killed("kill a reader"),
    "readers are killed time and again": _killed(*["kill a reader"] * 4),
    "all readers are killed": _killed("kill all readers"),
    "the owner is killed": _killed("kill the owner"),
    "whoever started all is killed": _killed("kill the starter"),
    "a reader, then the owner is killed": _killed("kill a reader", "kill the owner"),
    "a reader is stopped": Way(("stop a reader",), _IMPATIENT),
    "all readers are stopped": Way(("stop all readers",), _IMPATIENT),
    "a reader is stopped, and the owner killed": _killed("stop a reader", "kill the owner"),
    "all readers are stopped, and whoever started all is killed": _killed(
        "stop all readers", "kill the starter"
    ),
    "files hang": Way((), _IMPATIENT, ("hangs", "hangs")),
    "a file hangs, and the owner is killed": Way(("kill the owner",), _SLOW, ("hangs",)),
    "a file hangs, and whoever started all is killed": Way(
        ("kill the starter",), _SLOW, ("hangs",)
    ),
    "files end their readers": Way((), _SLOW, ("ends", "ends", "starves")),
    "the run is cancelled": _killed("cancel"),
    "a reader is killed, and the run cancelled": _killed("kill a reader", "cancel"),
    "a reader has no memory": Way(("starve a reader",)),
    "no shared memory": Way((), replace(_SLOW, free_bytes=0)),
    "shared memory for one": Way(("kill a reader",), replace(_SLOW, free_bytes=3 * _SLOT_BYTES)),
    "shared memory becomes full": Way((), replace(_SLOW, disk_bytes=1 << 20)),
    "no shared memory can be made": Way(("kill the owner",), replace(_SLOW, memories=0)),
    "one shared memory can be made": Way(("kill a reader",), replace(_SLOW, memories=1)),
    "no process can be started": Way(("kill the starter",), replace(_SLOW, starts=0)),
    "one process can be started": Way(("kill a reader",), replace(_SLOW, starts=1)),
    "no process more can be started": Way(("kill all readers",), replace(_SLOW, starts=2)),
    "processes end at once": Way((), replace(_SLOW, reader=("at-once",))),
}
_REASONS = (
    "the process reading it",
    "reading it took too long",
    "there is not enough memory",
)


@dataclass(frozen=True)
class Breaking:
    """One trial: the disturbance, and the seed of its moment."""

    name: str  # of the way
    seed: int
    planted: str = ""  # a planted fault, see `Shortage`

    @property
    def way(self) -> Way:
        """The way with the planted fault."""
        way = WAYS[self.name]
        return replace(way, shortage=replace(way.shortage, planted=self.planted))


@dataclass(frozen=True)
class Bench:
    """Common inputs of trials: photos, a network, and the results of an undisturbed run.

    Attributes:
        photos: in the order of their ids.
        hashes: of their contents; None for a missing file.
        reasons: of photos without an embedding, by id.
        contents: hashes of the valid ones, each once.
        vectors: their embeddings.
    """

    photos: tuple[Path, ...]
    model: Path
    hashes: tuple[str | None, ...]
    reasons: Mapping[int, str]
    contents: tuple[bytes, ...]
    vectors: NDArray[np.float16]

    def task(self, folder: Path, names: Sequence[str]) -> Import:
        """The photos in a new folder, some of them renamed."""
        (folder / "photos").mkdir(parents=True)
        called = {30 + 50 * place: name for place, name in enumerate(names)}
        paths = []
        for number, photo in enumerate(self.photos):
            path = folder / "photos" / f"{called.get(number, '')}{photo.name}"
            paths.append(path)
            if photo.exists():
                os.link(photo, path)
        return Import(Place(folder), tuple(paths), self.contents, self.model)


def break_readers(
    stage: Stage, count: int, *, seed: int, on_trial: OnTrial = lambda: None
) -> Outcome:
    """Disturb imports in each way.

    Args:
        stage: its folder is used for trials.
        count: trials.
        seed: of the random generator.
        on_trial: called after each trial.
    """
    ways = Random(seed).sample(list(WAYS), len(WAYS))
    plans = [Breaking(ways[place % len(ways)], seed * 1_000_000 + place) for place in range(count)]
    with bench_in(stage.folder) as bench:
        return run_trials(
            INSTRUMENT, plans, lambda plan: break_one(bench, stage.folder, plan), on_trial
        )


def break_one(bench: Bench, parent: Path, plan: Breaking) -> Trial:
    """Disturb one import, run it again, and check both."""
    chance = Random(plan.seed)
    with trial_folder(parent) as folder:
        task = bench.task(folder, plan.way.names)
        child = Child(task.place, embed_photos, task, (plan.way.shortage, plan.way.again))
        scene = Scene(task, child, chance)
        for results, deed in zip(sorted(_moments(plan.way, chance)), plan.way.deeds, strict=True):
            scene.wait_for(results)
            child.ended_within(chance.random() * (0.05 if results else _START_S))
            scene.do(deed)
        faults = _end(task, child, scene)
        if scene.is_orphaned:
            again = Child(task.place, embed_photos, task, (NOTHING_LACKS,))
            faults += _end(task, again, Scene(task, again, chance))
        runs = task.runs()
        if len(runs) == 2:
            faults += _first_faults(bench, runs[0], scene.hits + len(plan.way.names))
            faults += _last_faults(bench, task, runs[1])
        if runs and runs[0].ending != "done" and not scene.is_broken_off:
            faults.append(Fault("other", f"the first run ended otherwise: {runs[0].ending}"))
        done = sum(failure is None for run in runs for _id, _key, failure in run.results)
        return Trial(done, named(faults, f"{plan.name}, seed {plan.seed}"))


def _moments(way: Way, chance: Random) -> Iterator[int]:
    """Numbers of results before each disturbance; some at zero."""
    for _ in way.deeds:
        yield chance.choice((0, chance.randrange(PHOTOS), chance.randrange(PHOTOS)))


def _end(task: Import, child: Child, scene: Scene) -> list[Fault]:
    """Wait for the end of a child; return its faults and leftovers."""
    is_hang = not child.ended_within(LIMIT_S)
    if is_hang:
        child.kill()
    if not scene.is_orphaned:  # otherwise their living owner must end them
        scene.continue_all()
    if is_hang:
        return [Fault("hang", f"no end after {LIMIT_S:.0f} s")]
    faults = remains(task)
    ending = child.ending()
    return (
        faults
        if scene.is_orphaned
        else [*ending_faults(ending, "the import", task.place.output()), *faults]
    )


def _first_faults(bench: Bench, run: Run, allowed: int) -> list[Fault]:
    """Faults of the disturbed run, in which a number of files may have failed."""
    faults = _result_faults(bench, run)
    failed = {
        each: reason
        for each, _key, reason in run.results
        if reason is not None and each not in bench.reasons
    }
    faults += [
        Fault("wrong", f"{bench.photos[each].name} failed because {reason}")
        for each, reason in failed.items()
        if not reason.startswith(_REASONS)
    ]
    if len(failed) > allowed:
        faults.append(
            Fault(
                "other", f"{len(failed)} files failed, {allowed} readers were disturbed: {failed}"
            )
        )
    return faults


def _last_faults(bench: Bench, task: Import, last: Run) -> list[Fault]:
    """Faults of the undisturbed run, and of the cache after it."""
    faults = _result_faults(bench, last)
    if last.lost:
        faults.append(
            Fault("lost", f"{last.lost} contents were reported, and have no embedding", last.lost)
        )
    reasons = {each: reason for each, _key, reason in last.results if reason is not None}
    if reasons != bench.reasons:
        faults.append(Fault("wrong", f"failures of the second run: {reasons}"))
    if last.ending != "done" or last.embedded != last.missing:
        faults.append(
            Fault("other", f"{last.missing} were missing, {last.embedded} embedded: {last.ending}")
        )
    with task.cache() as cache:
        vectors, is_found = cache.get_many(bench.contents)
    if lacking := int((~is_found).sum()):
        faults.append(Fault("lost", f"{lacking} photos have no embedding", lacking))
    elif not np.array_equal(vectors, bench.vectors):
        faults.append(
            Fault("wrong", f"{int((vectors != bench.vectors).any(axis=1).sum())} other embeddings")
        )
    return faults


def _result_faults(bench: Bench, run: Run) -> list[Fault]:
    """Faults of the results of any run."""
    faults = [
        Fault("wrong", f"{bench.photos[each].name} has another content")
        for each, key, failure in run.results
        if failure is None and key != bench.hashes[each]
    ]
    ids = [each for each, _key, _failure in run.results]
    if len(ids) != len(set(ids)):
        faults.append(Fault("wrong", f"{len(ids) - len(set(ids))} photos were reported twice"))
    if run.ending == "done" and (silent := len(bench.photos) - len(set(ids))):
        faults.append(Fault("lost", f"{silent} photos were not reported", silent))
    return faults


@contextmanager
def bench_in(parent: Path) -> Iterator[Bench]:
    """Draw the photos and embed them on the CPU."""
    with trial_folder(parent) as folder:
        (folder / "photos").mkdir(parents=True)
        photos = [folder / "photos" / f"{number:03}.jpg" for number in range(PHOTOS + 1)]
        for number, photo in enumerate(photos[:PHOTOS]):
            write_jpeg(photo, seed=number - (number in TWINS), width=240, height=160)
        for number, content in BROKEN.items():
            photos[number].write_bytes(content)
        write_tiny_backbone(folder / "tiny.onnx")
        yield _undisturbed(folder / "tiny.onnx", photos)


def _undisturbed(model: Path, photos: Sequence[Path]) -> Bench:
    session = BackboneSession(model, read_card(model), CPU_CHOICE)
    hashes = [content_hash(photo.read_bytes()) if photo.exists() else None for photo in photos]
    sound = dict.fromkeys(key for number, key in enumerate(hashes) if key and number not in BROKEN)
    with EmbeddingCache(model.parent / "cache", IDENTITY, WIDTH) as cache:
        summary = embed_files(
            [EmbedRequest(number, path) for number, path in enumerate(photos)], session, cache
        )
        vectors, is_found = cache.get_many(list(sound))
    assert is_found.all()
    reasons = {number: reason for number, _path, reason in summary.failed}
    assert set(reasons) == {*BROKEN, ABSENT}
    texts = tuple(None if key is None else key.hex() for key in hashes)
    return Bench(tuple(photos), model, texts, reasons, tuple(sound), vectors)
