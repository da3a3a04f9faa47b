"""Leftovers of a stopped training of a backbone, without training."""

import json
from pathlib import Path

from engine.collection.training.settings import BackboneSettings, Chosen, with_chosen
from engine.collection.training.starts import start_of
from engine.collection.training.trained import open_run
from engine.config import CacheFolders
from engine.project import Project
from engine.training.curve import CHECKPOINT_NAME


def leave_stopped(project: Project, caches: CacheFolders, chosen: Chosen, *, done: int) -> Path:
    """Leave a training stopped after a number of iterations; return its folder."""
    settings = with_chosen(BackboneSettings(), chosen)
    settings = start_of(project, caches, settings.start).filled_in(settings)
    run = open_run(project, caches, settings, chosen)
    head = json.dumps({"__metadata__": {"iteration": str(done)}}).encode()
    (run / CHECKPOINT_NAME).write_bytes(len(head).to_bytes(8, "little") + head)
    return run
