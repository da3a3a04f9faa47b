"""Data sets of others next to five projects with a shared embedding cache: nothing changes."""

import contextlib
import hashlib
import io
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import numpy as np

from engine.cli.main import main
from engine.collection.embed import embed_project, open_cache
from engine.collection.importing.import_images import import_images
from engine.collection.models import find_model
from engine.collection.new_project import new_project
from engine.config import BACKBONES_VARIABLE, BACKUPS_VARIABLE, CACHE_VARIABLE, CacheFolders
from engine.dataset.embedded_rows import EmbeddedRows
from engine.project import Project
from tests.support.collections import LEAVES, write_shape
from tests.support.data_sets import write_data_set
from tests.trust.children import Place
from tests.trust.outcome import Fault, Outcome
from tests.trust.stages import Stage
from tests.trust.trials import Batch, BatchedTrials, OnTrial

INSTRUMENT = "data sets beside five projects"
PROJECTS = 5
PHOTOS = 8  # of each project; consecutive ones share half of them
BATCH = 50
_TRIAL_S = 20.0
_START_S = 120.0


@dataclass(frozen=True)
class Guests:
    """Five embedded projects, and all of their images as rows of a data set."""

    folder: Path
    rows: EmbeddedRows

    @property
    def caches(self) -> CacheFolders:
        """The shared caches."""
        return CacheFolders(self.folder / "cache")

    @property
    def projects(self) -> list[Path]:
        """The five projects."""
        return sorted(self.folder.glob("project*.protoleaf"))

    def sums(self) -> dict[str, str]:
        """Checksum of the embeddings of each project."""
        return {path.name: self._sum(path) for path in self.projects}

    def _sum(self, path: Path) -> str:
        with Project.open(path, for_writing=False) as project:
            hashes = [
                each.content_hash
                for each in project.images.each_content()
                if each.content_hash is not None
            ]
            with open_cache(find_model(), self.caches, project) as cache:
                vectors, found = cache.get_many(hashes)
        return hashlib.sha256(vectors.tobytes() + found.tobytes()).hexdigest()


def five_projects(folder: Path) -> Guests:
    """Draw photos and embed them; takes seconds."""
    guests = Guests(
        folder, EmbeddedRows([], [], [], np.zeros((0, 0), np.float16), np.zeros(0, bool), [], [])
    )
    photos = [
        folder / "photos" / f"{number:02}.png" for number in range(PHOTOS * (PROJECTS + 1) // 2)
    ]
    for number, photo in enumerate(photos):
        write_shape(photo, LEAVES[number % len(LEAVES)], seed=number)
    for number in range(PROJECTS):
        with new_project(folder / f"project{number}.protoleaf") as project:
            import_images(project, photos[number * PHOTOS // 2 : number * PHOTOS // 2 + PHOTOS])
            embed_project(project, guests.caches, device="cpu")
    with open_cache(find_model(), guests.caches) as cache:
        hashes = cache.last_hashes(photos)
        embeddings, _ = cache.get_many([key or b"" for key in hashes])
    paths, sizes = [str(photo) for photo in photos], [photo.stat().st_size for photo in photos]
    ready, statuses = np.ones(len(photos), dtype=bool), ["embedded"] * len(photos)
    return Guests(
        folder,
        EmbeddedRows(hashes, paths, sizes, embeddings, ready, statuses, [None] * len(photos)),
    )


Change = Callable[[EmbeddedRows, Random], EmbeddedRows]


def _with(vectors: Callable[[EmbeddedRows, np.random.Generator], np.ndarray]) -> Change:
    def change(rows: EmbeddedRows, chance: Random) -> EmbeddedRows:
        generator = np.random.default_rng(chance.randrange(1 << 30))
        return replace(rows, embeddings=vectors(rows, generator).astype(np.float16))

    return change


def _away(rows: EmbeddedRows, chance: Random) -> EmbeddedRows:
    """Random embeddings of images that cannot be read here."""
    noisy = CHANGES["noise"](rows, chance)
    return replace(noisy, paths=[f"s3://bucket/{number}.png" for number in range(len(rows))])


CHANGES: Mapping[str, Change] = {
    "good": lambda rows, _chance: rows,
    "swapped rows": _with(
        lambda rows, generator: np.roll(rows.embeddings, generator.integers(1, 8), axis=0)
    ),
    "noise": _with(lambda rows, generator: generator.standard_normal(rows.embeddings.shape)),
    "not a number": _with(lambda rows, _generator: np.full_like(rows.embeddings, np.nan)),
    "infinite": _with(lambda rows, _generator: np.full_like(rows.embeddings, np.inf)),
    "zero": _with(lambda rows, _generator: np.zeros_like(rows.embeddings)),
    "noise of images elsewhere": _away,
    "another width": _with(lambda rows, _generator: rows.embeddings[:, :-8]),
    "a foreign hash": lambda rows, _chance: rows,
    "another backbone beside it": lambda rows, _chance: rows,
}
TAKEN = frozenset({"good", "not a number", "infinite", "zero", "noise of images elsewhere"})
"""Variants that become a project; some without any embedding."""


def open_guests(
    stage: Stage, count: int, *, seed: int, on_trial: OnTrial = lambda: None
) -> Outcome:
    """Open data sets next to the five projects."""
    trials = BatchedTrials(INSTRUMENT, "data sets", open_some, BATCH, _START_S, _TRIAL_S)
    return trials.outcome(stage, count, seed=seed, on_trial=on_trial)


def open_some(place: Place, batch: Batch) -> tuple[list[Fault], int]:
    """Open the data sets of a batch in a child; return faults, and the number of projects made."""
    os.environ[CACHE_VARIABLE], os.environ[BACKUPS_VARIABLE] = (
        str(place.caches),
        str(place.folder / "kept"),
    )
    os.environ[BACKBONES_VARIABLE] = str(place.folder / "networks")
    guests = five_projects(place.folder)
    faults: list[Fault] = []
    done = 0
    for seed in range(batch.first, batch.first + batch.count):
        found, is_taken = open_one(guests, Random(seed), tuple(CHANGES)[seed % len(CHANGES)])
        faults += [Fault(fault.kind, f"seed {seed}, {fault.text}") for fault in found]
        done += is_taken
    return faults, done


def open_one(
    guests: Guests, chance: Random, kind: str, run: Callable[[list[str]], int] = main
) -> tuple[Sequence[Fault], bool]:
    """Open one data set as a project, and check the five."""
    folder, project = guests.folder / "set", guests.folder / "guest.protoleaf"
    shutil.rmtree(folder, ignore_errors=True)
    project.unlink(missing_ok=True)
    _write(folder, CHANGES[kind](guests.rows, chance), kind, chance)
    before, faults, status = guests.sums(), list[Fault](), -1
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            status = run(["new", str(project), "--data-set", str(folder)])
        except Exception as error:  # noqa: BLE001 (recorded)
            faults.append(Fault("traceback", f"{kind}: {type(error).__name__}: {str(error)[:200]}"))
    changed = [name for name, digest in guests.sums().items() if digest != before[name]]
    faults += [Fault("wrong", f"{kind}: embeddings of {name} changed") for name in changed]
    if (status == 0) != (kind in TAKEN):
        faults.append(Fault("wrong", f"{kind}: {'taken' if status == 0 else 'refused'}"))
    return faults, status == 0


def _write(folder: Path, rows: EmbeddedRows, kind: str, chance: Random) -> None:
    write_data_set(folder, [rows])
    manifest = folder / "manifest.json"
    if kind == "a foreign hash":
        content = json.loads(manifest.read_bytes())
        content["backbone"]["sha256"] = chance.choice(
            ("0" * 64, "../../x", "", "F" * 64, "ab" * 32)
        )
        manifest.write_text(json.dumps(content), encoding="utf-8")
    if kind == "another backbone beside it":
        (folder / "backbone.onnx").write_bytes(chance.randbytes(100))
