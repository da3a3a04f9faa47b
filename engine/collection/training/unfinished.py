"""A training of a backbone that was stopped, or whose process died: what is kept of it, and whether it can go on.

Of each project one training is kept, in the cache, until it is done or another one starts. It goes on only where it
gives what an uninterrupted one would have given: from the same model, labels, classes and settings. So this module
needs no torch: the window asks it too.
"""

import hashlib
import json
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engine.collection.training.labelled import labelled_images
from engine.collection.training.settings import BackboneSettings, Chosen, plain_settings, with_chosen
from engine.collection.training.starts import start_of
from engine.config import CacheFolders
from engine.errors import ProtoleafError
from engine.full_disk import writing
from engine.new_file import private_folder, write_file
from engine.project import Project
from engine.project.records import Plain
from engine.training.curve import CHECKPOINT_NAME, kept_iteration

FOLDER: Final = "unfinished-trainings"
KEPT_S: Final = 30 * 86_400
"""After so long nobody goes on with a training. Chosen."""

_DESCRIPTION: Final = "training.json"
_ELSEWHERE: Final = ("device", "points")
"""Settings that change nothing of what is trained."""


@dataclass(frozen=True)
class Unfinished:
    """A training that can go on."""

    done: int  # finished iterations
    iterations: int  # in all
    chosen: Mapping[str, Plain]  # settings that were chosen, by name: the same ones make it go on


def unfinished(project: Project, caches: CacheFolders) -> Unfinished | None:
    """Find the training that was stopped in this project; None where none can go on."""
    folder = _folder(project, caches)
    try:
        facts: dict[str, Any] = json.loads((folder / _DESCRIPTION).read_text(encoding="utf-8"))
        chosen, done = dict(facts["chosen"]), kept_iteration(folder / CHECKPOINT_NAME)
        settings = start_of(project, caches, str(chosen.get("start", BackboneSettings.start))).filled_in(
            with_chosen(BackboneSettings(), chosen)
        )
        if facts["fingerprint"] != fingerprint(project, caches, settings):
            return None
    except (OSError, ValueError, KeyError, TypeError, ProtoleafError):  # nothing there, or nothing to go on with
        return None
    return Unfinished(done, settings.iterations, chosen)


def open_run(project: Project, caches: CacheFolders, settings: BackboneSettings, chosen: Chosen) -> Path:
    """The folder for the checkpoints of a training: as it was left, if that was the same training; else empty.

    Args:
        project: to train in.
        caches: where the folder is.
        settings: filled in.
        chosen: those of them that were chosen.

    Raises:
        StorageError: the cache refuses.
    """
    folder, ours = _folder(project, caches), fingerprint(project, caches, settings)
    _sweep(folder.parent)
    with writing(folder, "the checkpoints of the training cannot be kept", "free some disk space"):
        try:
            facts = json.loads((folder / _DESCRIPTION).read_text(encoding="utf-8"))
            is_ours = facts["fingerprint"] == ours
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            is_ours = False
        if not is_ours:
            shutil.rmtree(folder, ignore_errors=True)
            private_folder(folder)
            write_file(folder / _DESCRIPTION, json.dumps({"fingerprint": ours, "chosen": dict(chosen)}) + "\n")
    return folder


def forget(run: Path) -> None:
    """The training is done, or nobody wants it any more."""
    shutil.rmtree(run, ignore_errors=True)


def fingerprint(project: Project, caches: CacheFolders, settings: BackboneSettings) -> str:
    """Hash of everything that decides what a training gives.

    Raises:
        InputError: nothing is labelled.
        ModelError: there is nothing to start from.
    """
    labelled, graph = labelled_images(project), project.classes.graph
    facts = {
        "start": start_of(project, caches, settings.start).identity,
        "settings": {name: value for name, value in plain_settings(settings).items() if name not in _ELSEWHERE},
        "labels": [labelled.image_ids.tolist(), labelled.class_ids.tolist(), list(labelled.paths)],
        "classes": {class_id: sorted(graph.parents(class_id)) for class_id in sorted(graph.classes())},
    }
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _folder(project: Project, caches: CacheFolders) -> Path:
    place = hashlib.sha256(str(project.path.absolute()).encode("utf-8", "surrogateescape")).hexdigest()
    return caches.root / FOLDER / place[:32]


def _sweep(parent: Path) -> None:
    for folder in parent.glob("*"):
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > KEPT_S:
                shutil.rmtree(folder, ignore_errors=True)
