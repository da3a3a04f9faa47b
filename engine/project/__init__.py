"""The project file: open, ask, act, undo."""

from engine.project.actions import Action
from engine.project.backups.place import BackupReason
from engine.project.change import Change
from engine.project.project import Project
from engine.project.records import (
    Audit,
    AuditItem,
    ClassId,
    ClassPolicy,
    Exclusion,
    FieldValue,
    ImageDetails,
    ImageId,
    ImageRecord,
    ImageTable,
    Label,
    ModelVersion,
    Note,
    Prediction,
    SplitPart,
    TrainedModel,
)

__all__ = [
    "Action",
    "Audit",
    "AuditItem",
    "BackupReason",
    "Change",
    "ClassId",
    "ClassPolicy",
    "Exclusion",
    "FieldValue",
    "ImageDetails",
    "ImageId",
    "ImageRecord",
    "ImageTable",
    "Label",
    "ModelVersion",
    "Note",
    "Prediction",
    "Project",
    "SplitPart",
    "TrainedModel",
]
