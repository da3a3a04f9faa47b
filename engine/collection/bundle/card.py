"""The card of an exported model, for people (Markdown) and for programs (JSON): what it is, and what it is not."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from string import Template
from typing import Any

from engine import __version__
from engine.collection.bundle.classes_file import VERSION, ExportedClasses
from engine.collection.classify import Classified
from engine.config import assets_folder
from engine.everyday.classifier import CollectionFigures
from engine.model_card import BackboneCard
from engine.project.clock import now_text


@dataclass(frozen=True)
class ModelFacts:
    """What there is to say of an exported model.

    Attributes:
        classified: the collection with the fitted model.
        told: what `classes.json` says.
        difference: the largest between the program's probabilities and those of `classifier.onnx` when it was written.
        sizes: bytes of the other files by name.
    """

    classified: Classified
    contents: ExportedClasses
    difference: float
    sizes: Mapping[str, int]

    @property
    def backbone(self) -> BackboneCard:
        """Card of the backbone."""
        return self.classified.model.card

    @property
    def collection(self) -> CollectionFigures | None:
        """What unlabelled images added, where they did."""
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
        "labelled_images_by_class": {graph.path_text(each): count for each, count in fitted.shots.counts().items()},
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
            "held_out": {"shots": others.shots, "hits": others.hits, "hits_without": others.hits_without},
        },
        "largest_difference_from_the_program": facts.difference,
        "file_sizes": dict(facts.sizes),
        "backbone": {"sha256": facts.classified.model.backbone_hash, **asdict(facts.backbone)},
    }
    return json.dumps(_finite(fields), ensure_ascii=False, indent=1) + "\n"


def card_markdown(facts: ModelFacts) -> str:
    """`README.md`."""
    card, framing = facts.backbone, facts.contents.framing
    template = Template((assets_folder() / "bundle" / "card.md").read_text(encoding="utf-8"))
    return template.substitute(
        name=facts.contents.name,
        version=__version__,
        candidates=f"{len(facts.classified.fitted.candidate_ids):,}",
        shots=f"{len(facts.classified.fitted.shots):,}",
        others=_taught_by_others(facts),
        held_out=_held_out_text(facts),
        side=framing.side,
        share=f"{100 * framing.resize_share:.3g}%",
        views=framing.views,
        views_text=_views_text(framing.views),
        collection=_collection_text(facts.collection),
        difference=f"{facts.difference:.1g}",
        backbone=card.name,
        description=card.description or "not told",
        training_data=card.training_data or "not told",
        licence=card.licence or "not told",
    )


def _taught_by_others(facts: ModelFacts) -> str:
    return "" if facts.collection is None else f", and by what {facts.collection.images:,} images say of one another"


def _held_out_text(facts: ModelFacts) -> str:
    others, figures = facts.collection, facts.classified.fitted.figures
    if others is not None and others.shots:
        return f"Of {others.shots:,} labelled images that were held out it named {others.hits:,} rightly."
    if not math.isnan(figures.accuracy):
        return (
            f"Of {figures.shots_checked:,} labelled images that were held out it named {figures.accuracy:.0%} rightly."
        )
    return "No class had two labelled images, so none could be held out to see how often it is right."


def _views_text(views: int) -> str:
    if views == 1:
        return "The network looks at it once."
    return (
        "The network looks at it and at the four corners of the same square at 9/7 of the size (whole, upper left, "
        "upper right, lower left, lower right), and the mean of the five embeddings counts."
    )


def _collection_text(others: CollectionFigures | None) -> str:
    if others is None:
        return "Unlabelled images of the project have no part in it."
    return (
        f"Of the project's collection it carries {others.anchors:,} anchors: whitened embeddings, from which "
        "no image can be seen, and in which part each belongs to each class. An image follows the anchors that it is "
        "like. Images of the collection itself are also followed by others, so theirs may be answered a little "
        "otherwise; a new image is answered here as in the program while it is no part of a project."
    )


def _finite(value: Any) -> Any:
    """JSON knows no number for what was not measured."""
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
