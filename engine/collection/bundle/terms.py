"""On which terms an exported model may be used: what its backbone's authors ask for."""

from contextlib import suppress
from typing import Final

from engine.backbones.model_files import bundled_backbones
from engine.collection.models import ModelFiles, model_of
from engine.config import CacheFolders, licence_path, notice_path
from engine.errors import ModelError
from engine.project import Project

_UNKNOWN: Final = "Nobody told the licence of these weights: ask whoever made them before you pass this model on."
_RUNNER: Final = (
    "run.py\n"
    "    A part of Protoleaf. Copyright 2026 The Protoleaf authors.\n"
    "    Licensed under the Apache License, Version 2.0, which stands below.\n"
)
_REST: Final = (
    "classifier.onnx and classes.json hold the backbone's weights and what was learned from a project's labels: the\n"
    "names of its classes, and numbers that were made from its images. Whose images and labels these are says on\n"
    "which terms you may pass them on.\n"
)


def licence_text(project: Project, caches: CacheFolders, model: ModelFiles) -> str:
    """`LICENCE.txt` of an exported model: terms of its backbone, of those it was trained from, and of the runner."""
    before = _before(project, caches)
    parts = [
        _part(model.name, model),
        *(_part(f"{each.name}, which it was trained from", each) for each in before),
    ]
    text = "On which terms this model may be used\n\n" + "\n".join(dict.fromkeys(parts)) + f"\n{_REST}\n{_RUNNER}"
    with suppress(OSError):  # a checkout without it
        text += "\n\n" + licence_path().read_text(encoding="utf-8")
    return text


def _before(project: Project, caches: CacheFolders) -> list[ModelFiles]:
    """The models that the one in use was trained from, as far as they are at hand."""
    models, version = [], project.models.current
    while version.parent_id is not None:
        version = project.models.version(version.parent_id)
        with suppress(ModelError):
            models.append(model_of(project, caches, version))
    return models


def _part(title: str, model: ModelFiles) -> str:
    card = model.card
    lines = [title, f"    {card.licence or _UNKNOWN}"]
    lines += [
        f"    {text}" for text in (card.description, card.training_data and f"Trained on: {card.training_data}") if text
    ]
    return "\n".join(lines) + "\n" + _notice_of(model.name)


def _notice_of(name: str) -> str:
    """What the program's notice says of a bundled backbone."""
    if name not in bundled_backbones():
        return ""
    with suppress(OSError, UnicodeDecodeError):
        blocks = notice_path().read_text(encoding="utf-8").split("\n\n")
        return "".join(block.partition("\n")[2].rstrip() + "\n" for block in blocks if block.lower().startswith(name))
    return ""
