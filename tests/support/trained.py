"""Trained models without training: real files."""

from pathlib import Path

import onnx

from engine.collection.models import find_model
from engine.collection.training.trained import TrainedFiles, propagation_file, write_trained
from engine.project import Project
from engine.training.curve import TrainingPoint


def write_tuned(folder: Path, project: Project, *, seed: int = 0) -> TrainedFiles:
    """A possible result of tuning: the bundled attention with a file that differs by seed."""
    bundled = find_model()
    folder.mkdir(parents=True)
    model = onnx.load(str(bundled.propagation))
    model.metadata_props.add(key="seed", value=str(seed))
    onnx.save(model, str(propagation_file(folder)))
    trained = TrainedFiles(
        folder,
        "propagation",
        "Tuned propagation 1",
        project.models.current.version_id,
        backbone_name=bundled.name,
        backbone_hash=bundled.backbone_hash,
        card=bundled.card,
        figures={"before_accuracy": 0.5, "after_accuracy": 0.75, "held_out_images": 8},
        settings={"iterations": 3},
        history=(TrainingPoint(0, None, 1.5, 0.5), TrainingPoint(3, 1.25, 1.0, 0.75)),
    )
    write_trained(trained)
    return trained
