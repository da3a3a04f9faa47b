"""Model card of an exported model (Markdown and JSON), and its licence file."""

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from string import Template
from typing import Any

from engine import __version__
from engine.backbones.model_files import bundled_backbones
from engine.bundle.classes_file import VERSION, ExportedClasses
from engine.collection.classify import Classified
from engine.collection.models import ModelFiles, model_of
from engine.config import CacheFolders, assets_folder, licence_path, notice_path
from engine.errors import ModelError
from engine.everyday.classifier import CollectionFigures
from engine.model_card import BackboneCard
from engine.project import Project
from engine.project.clock import now_text

_UNKNOWN = (
    "The licence of these weights is not known: ask whoever made them before you pass this model "
    "on."
)
_RUNNER = (
    "run.py\n    A part of Protoleaf. Copyright 2026 The Protoleaf authors.\n    Licensed under "
    "the Apache License, Version 2.0, which stands below.\n"
)
_REST = (
    "classifier.onnx and classes.json hold the backbone's weights and what was learned from a "
    "project's labels: the\nnames of its classes, and numbers that were made from its images. "
    "Whose images and labels these are says on\nwhich terms you may pass them on.\n"
)


@dataclass(frozen=True)
class ModelFacts:
    """Content of the card."""

    classified: Classified  # the collection with the fitted model
    contents: ExportedClasses  # of `classes.json`
    difference: float  # largest difference of probabilities of the program and `classifier.onnx`
    sizes: Mapping[str, int]  # bytes of the other files by name

    @property
    def backbone(self) -> BackboneCard:
        return self.classified.model.card

    @property
    def collection(self) -> CollectionFigures | None:
        """Figures of the collection stage; None if it is not used."""
        found = self.classified.fitted.figures.collection
        return found if found is not None and found.is_used else None


def card_json(facts: ModelFacts) -> str:
    """`card.json`."""
    fitted, others, graph = facts.classified.fitted, facts.collection, facts.contents.graph
    fields: dict[str, Any] = {
        "name": facts.contents.name,
        "made_by": f"Protoleaf {__version__}",
        "made_at": now_text(),
        "format_version": VERSION,
        "setting": facts.contents.setting,
        "image": vars(facts.contents.framing),
        "classes": len(graph),
        "candidates": len(fitted.candidate_ids),
        "labelled_images": len(fitted.shots),
        "labelled_images_by_class": {
            graph.path_text(each): count for each, count in fitted.shots.counts().items()
        },
        "held_out": {
            "images": fitted.figures.shots_checked,
            "accuracy_of_the_paper_s_model": fitted.figures.accuracy,
        },
        "collection_stage": None
        if others is None
        else {
            "images": others.images,
            "anchors": others.anchors,
            "familiarity": others.familiarity,
            "held_out": {
                "shots": others.shots,
                "hits": others.hits,
                "hits_without": others.hits_without,
            },
        },
        "largest_difference_from_the_program": facts.difference,
        "file_sizes": dict(facts.sizes),
        "backbone": {"sha256": facts.classified.model.backbone_hash, **asdict(facts.backbone)},
    }
    return json.dumps(_finite(fields), ensure_ascii=False, indent=1) + "\n"


def card_markdown(facts: ModelFacts) -> str:
    """`README.md`."""
    card, framing, others = facts.backbone, facts.contents.framing, facts.collection
    template = Template((assets_folder() / "bundle" / "card.md").read_text(encoding="utf-8"))
    return template.substitute(
        name=facts.contents.name,
        version=__version__,
        candidates=f"{len(facts.classified.fitted.candidate_ids):,}",
        shots=f"{len(facts.classified.fitted.shots):,}",
        others=""
        if others is None
        else f", and by what {others.images:,} images say of one another",
        held_out=_held_out_text(facts),
        side=framing.side,
        share=f"{100 * framing.resize_share:.3g}%",
        views=framing.views,
        views_text=_views_text(framing.views),
        collection=_collection_text(others),
        difference=f"{facts.difference:.1g}",
        backbone=card.name,
        description=card.description or "not told",
        training_data=card.training_data or "not told",
        licence=card.licence or "not told",
    )


def _held_out_text(facts: ModelFacts) -> str:
    others, figures = facts.collection, facts.classified.fitted.figures
    if others is not None and others.shots:
        return (
            f"Of {others.shots:,} labelled images that were held out it named {others.hits:,} "
            "rightly."
        )
    if not math.isnan(figures.accuracy):
        return (
            f"Of {figures.shots_checked:,} labelled images that were held out it named "
            f"{figures.accuracy:.0%} rightly."
        )
    return (
        "No class had two labelled images, so none could be held out to see how often it is right."
    )


def _views_text(views: int) -> str:
    if views == 1:
        return "The network looks at it once."
    return (
        "The network looks at it and at the four corners of the same square at 9/7 of the "
        "size (whole, upper left, "
        "upper right, lower left, lower right), and the mean of the five embeddings counts."
    )


def _collection_text(others: CollectionFigures | None) -> str:
    if others is None:
        return "Unlabelled images of the project are not in it."
    return (
        f"Of the project's collection it carries {others.anchors:,} anchors: whitened embeddings, "
        "from which images cannot be restored, with their class probabilities. Predictions "
        "of an image depend on the anchors similar to it. In the project they also depend on other "
        "images, so they may differ a little; a new image is predicted as by the program "
        "for images outside a project."
    )


def _finite(value: Any) -> Any:
    """Replace NaN, which JSON does not have, by null."""
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def licence_text(project: Project, caches: CacheFolders, model: ModelFiles) -> str:
    """`LICENCE.txt`: terms of the backbone, of the ones it was trained from, and of the runner."""
    before = [
        _part(f"{each.name}, which it was trained from", each) for each in _before(project, caches)
    ]
    parts = [_part(model.name, model), *before]
    text = (
        "On which terms this model may be used\n\n"
        + "\n".join(dict.fromkeys(parts))
        + f"\n{_REST}\n{_RUNNER}"
    )
    with suppress(OSError):  # missing in a checkout
        text += "\n\n" + licence_path().read_text(encoding="utf-8")
    return text


def _before(project: Project, caches: CacheFolders) -> list[ModelFiles]:
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
        f"    {text}"
        for text in (card.description, card.training_data and f"Trained on: {card.training_data}")
        if text
    ]
    return "\n".join(lines) + "\n" + _notice_of(model.name)


def _notice_of(name: str) -> str:
    if name not in bundled_backbones():
        return ""
    with suppress(OSError, UnicodeDecodeError):
        blocks = notice_path().read_text(encoding="utf-8").split("\n\n")
        return "".join(
            block.partition("\n")[2].rstrip() + "\n"
            for block in blocks
            if block.lower().startswith(name)
        )
    return ""
