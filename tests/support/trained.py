"""Trained models for tests that do not train: real files, in a moment."""

from pathlib import Path

from engine.model.propagation_network import PropagationNetwork
from engine.project import Project
from engine.training.export import export_propagation
from engine.workflows.models import find_model
from engine.workflows.training.trained import TrainedFiles, TrainingPoint, propagation_file, write_trained
from tests.support.prototype_graphs import random_attention


def write_tuned(folder: Path, project: Project, *, seed: int = 0) -> TrainedFiles:
    """What tuning propagation could have left: random attention on the bundled backbone."""
    bundled = find_model()
    folder.mkdir(parents=True)
    export_propagation(
        PropagationNetwork(random_attention(bundled.card.embedding_width, seed=seed)), propagation_file(folder)
    )
    trained = TrainedFiles(
        folder,
        "propagation",
        "Tuned propagation 1",
        project.model.version_id,
        backbone_name=bundled.name,
        backbone_hash=bundled.backbone_hash,
        card=bundled.card,
        figures={"before_accuracy": 0.5, "after_accuracy": 0.75, "held_out_images": 8},
        settings={"iterations": 3},
        history=(TrainingPoint(0, None, 1.5, 0.5), TrainingPoint(3, 1.25, 1.0, 0.75)),
    )
    write_trained(trained)
    return trained
