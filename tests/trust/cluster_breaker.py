"""Interrupt embedding and classifying of data sets on a cluster, and run the command again.

A node is killed, the command is killed, the disk becomes full, a shard is damaged. Afterwards every
image has one row, equal to an undisturbed run's, and no partial file is left.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pyarrow as pa

from engine.bundle.export import export_model
from engine.bundle.opened import open_bundle
from engine.config import CacheFolders
from engine.dataset.opened import DataSet
from engine.dataset.shard_files import each_batch
from engine.errors import ProtoleafError
from engine.project import Project
from protoleaf_cluster.classify import begin_predictions
from protoleaf_cluster.classify_shard import ClassifyShards
from protoleaf_cluster.predictions import prediction_shards, read_predictions_manifest
from protoleaf_cluster.shard_work import Resources
from tests.support.data_sets import embedded, rows_of
from tests.support.images import write_jpeg
from tests.support.mounted_disk import leave_free, mount_small_disk
from tests.support.two_nodes import answered, program_environment, shards_there, started, two_nodes
from tests.trust.outcome import Fault, Outcome, Trial, outcome
from tests.trust.stages import Stage
from tests.trust.trials import OnTrial, named, trial_folder

INSTRUMENT = "clusters broken off"
IMAGES = 240
SHARD_IMAGES = 4
SHARDS = IMAGES // SHARD_IMAGES
DISK_BYTES = 48 << 20
_MODEL_BYTES = (
    12_100_000  # of the backbone and its companion, which are copied before the first shard
)
_REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True)
class Bench:
    """Common inputs of trials: images, an exported model, and the results of an undisturbed run."""

    photos: Path
    data_set: Path
    model: Path
    rows: Mapping[str, object]
    predictions: tuple[Mapping[str, object], ...]

    def embed(self, out: Path, *options: str) -> tuple[str | Path, ...]:
        """The command that embeds the images."""
        return (
            "embed",
            self.photos,
            "--out",
            out,
            "--backbone",
            "fast",
            "--shard-images",
            str(SHARD_IMAGES),
            *options,
        )

    def classify(self, out: Path) -> tuple[str | Path, ...]:
        """The command that classifies the undisturbed data set."""
        return ("classify", self.data_set, "--model", self.model, "--out", out)


def break_many(stage: Stage, count: int, *, seed: int, on_trial: OnTrial = lambda: None) -> Outcome:
    """Interrupt a number of runs, in each way.

    Args:
        stage: a project whose exported model classifies.
        count: trials.
        seed: of the random generator.
        on_trial: called after each trial.
    """
    chance = Random(seed)
    with _bench(stage) as bench:

        def trials() -> Iterator[Trial]:
            for place in range(count):
                name, way = WAYS[place % len(WAYS)]
                with trial_folder(stage.folder) as folder:
                    folder.mkdir()
                    faults = way(bench, folder, chance)
                yield Trial(1, named(faults, f"{name}, trial {place}, seed {seed}"))
                on_trial()

        return outcome(INSTRUMENT, trials())


def _lose_a_node(bench: Bench, folder: Path, chance: Random) -> list[Fault]:
    with two_nodes() as nodes:
        running = started(
            *bench.embed(folder / "set", "--cluster", nodes.address), environment=nodes.environment
        )
        if shards_there(folder / "set", chance.randrange(1, SHARDS - 4), running):
            nodes.lose_one()
        faults = _ending(answered(running), 0, "holds")
    return [*faults, *_embedded_faults(bench, folder / "set")]


def _kill_embedding(bench: Bench, folder: Path, chance: Random) -> list[Fault]:
    out = folder / "set"
    _killed(bench.embed(out), out, chance)
    return [
        *_ending(answered(started(*bench.embed(out))), 0, "holds"),
        *_embedded_faults(bench, out),
    ]


def _kill_classifying(bench: Bench, folder: Path, chance: Random) -> list[Fault]:
    out = folder / "out"
    _killed(bench.classify(out), out, chance)
    faults = _ending(answered(started(*bench.classify(out))), 0, "Wrote")
    return faults + (
        [] if _predictions(out) == bench.predictions else [Fault("wrong", "other predictions")]
    )


def _killed(command: tuple[str | Path, ...], out: Path, chance: Random) -> None:
    """Kill a command with SIGKILL."""
    running = started(*command)
    shards_there(out, chance.randrange(1, SHARDS - 4), running)
    running.send_signal(signal.SIGKILL)
    answered(running)


def _damage_a_shard(bench: Bench, folder: Path, chance: Random) -> list[Fault]:
    out = Path(shutil.copytree(bench.data_set, folder / "set"))
    shards = DataSet.open(out).shards
    path = shards.path(chance.randrange(SHARDS))
    content = bytearray(path.read_bytes())
    content[chance.randrange(4, len(content) // 2)] ^= 1 << chance.randrange(8)
    path.write_bytes(content)
    shards.path(chance.randrange(SHARDS)).write_bytes(content[: len(content) // 3])
    shards.path(chance.randrange(SHARDS)).unlink(missing_ok=True)
    faults = _ending(answered(started(*bench.embed(out))), 0, "holds")
    return [*faults, *_embedded_faults(bench, out)]


def _fill_the_disk(bench: Bench, folder: Path, chance: Random) -> list[Fault]:
    """In a process with a small disk of its own."""
    free = chance.choice((0, _MODEL_BYTES // 2, _MODEL_BYTES + chance.randrange(60_000, 300_000)))
    command = [
        sys.executable,
        "-m",
        "tests.trust.cluster_breaker",
        str(folder),
        str(bench.photos),
        str(free),
    ]
    done = subprocess.run(
        command,
        cwd=_REPOSITORY,
        env=program_environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode:
        return [Fault("traceback", done.stderr[-500:])]
    answer = json.loads(done.stdout)
    faults = [Fault(kind, text) for kind, text in answer["faults"]]
    with_bytes = {path: _hexed(row) for path, row in bench.rows.items()}
    return faults + (
        []
        if answer["rows"] == with_bytes
        else [Fault("wrong", f"other rows after a full disk, {free} free")]
    )


WAYS: tuple[tuple[str, Callable[[Bench, Path, Random], list[Fault]]], ...] = (
    ("a node is killed", _lose_a_node),
    ("embedding is killed", _kill_embedding),
    ("classifying is killed", _kill_classifying),
    ("a shard is damaged", _damage_a_shard),
    ("the disk is full", _fill_the_disk),
)


@contextmanager
def _bench(stage: Stage) -> Iterator[Bench]:
    with trial_folder(stage.folder) as folder:
        (folder / "photos").mkdir(parents=True)
        for number in range(IMAGES):
            write_jpeg(folder / "photos" / f"{number}.jpg", seed=number)
        (folder / "photos" / "7.jpg").write_bytes(b"rotten")
        with Project.open(stage.place.project, for_writing=False) as project:
            model = export_model(project, CacheFolders(stage.place.caches), folder / "model").folder
        data_set = embedded([folder / "photos"], folder / "set", shard_images=SHARD_IMAGES)
        manifest = begin_predictions(data_set, open_bundle(model), folder / "out")
        do = ClassifyShards(data_set.folder, folder / "out").open(Resources())
        for number in range(manifest.shard_count):
            do(number)
        yield Bench(
            folder / "photos",
            folder / "set",
            model,
            rows_of(data_set),
            _predictions(folder / "out"),
        )


def _predictions(out: Path) -> tuple[Mapping[str, object], ...]:
    manifest = read_predictions_manifest(out)
    shards = prediction_shards(out, manifest)
    batches = [
        batch for number in range(manifest.shard_count) for batch in each_batch(shards, number)
    ]
    return tuple(pa.Table.from_batches(batches).to_pylist())


def _embedded_faults(bench: Bench, out: Path) -> list[Fault]:
    """Faults of a data set that is marked as complete."""
    try:
        rows = rows_of(DataSet.open(out))
    except (ProtoleafError, AssertionError) as error:
        return [Fault("lost", f"{type(error).__name__}: {error}")]
    missing = bench.rows.keys() - rows.keys()
    return [
        *([Fault("lost", f"{len(missing)} images", len(missing))] if missing else []),
        *([] if missing or rows == bench.rows else [Fault("wrong", "other rows")]),
        *([Fault("stray", str(path)) for path in out.rglob(".*.protoleaf-new")]),
    ]


def _ending(answer: tuple[int, str, str], status: int, says: str) -> list[Fault]:
    """Faults of a command's end."""
    found, out, err = answer
    if "Traceback" in err or found != status or says not in out + err:
        return [
            Fault("traceback", f"status {found}: {' | '.join((out + err).splitlines()[-3:])[:500]}")
        ]
    return []


def _hexed(row: object) -> list[object]:
    assert isinstance(row, tuple)
    return [value.hex() if isinstance(value, bytes) else value for value in row]


def _on_a_small_disk(folder: Path, photos: Path, free_bytes: int) -> None:
    """Embed to a disk that becomes full, and again with free space; print the result."""
    disk = folder / "disk"
    mount_small_disk(disk, DISK_BYTES)
    bench = Bench(photos, disk, disk, {}, ())
    filler = leave_free(disk, free_bytes)
    faults = _ending(answered(started(*bench.embed(disk / "set"))), 1, "the disk is full")
    filler.unlink()
    faults += _ending(answered(started(*bench.embed(disk / "set"))), 0, "holds")
    strays = [path.name for path in disk.rglob(".*") if path.name != ".protoleaf-lock"]
    faults += [Fault("stray", name) for name in strays]
    rows = {path: _hexed(row) for path, row in rows_of(DataSet.open(disk / "set")).items()}
    sys.stdout.write(
        json.dumps({"faults": [(fault.kind, fault.text) for fault in faults], "rows": rows})
    )
    sys.stdout.flush()
    os._exit(0)  # unmounts the disk


if __name__ == "__main__":
    _on_a_small_disk(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
