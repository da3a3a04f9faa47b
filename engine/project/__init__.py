"""The project file: open, ask, act, undo."""

from engine.project.actions import Action
from engine.project.backups.place import BackupReason
from engine.project.change import Change
from engine.project.project import Project
from engine.project.records import (
    ClassId,
    ClassPolicy,
    ImageId,
    ImageRecord,
    ImageTable,
    Label,
    ModelVersion,
    Prediction,
    SplitPart,
    TrainedModel,
)

__all__ = [
    "Action",
    "BackupReason",
    "Change",
    "ClassId",
    "ClassPolicy",
    "ImageId",
    "ImageRecord",
    "ImageTable",
    "Label",
    "ModelVersion",
    "Prediction",
    "Project",
    "SplitPart",
    "TrainedModel",
]
