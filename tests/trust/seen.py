"""All content of a project as plain values for comparison."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from engine.project import ModelVersion, Project
from tests.support.projects import connection_of

SETTINGS = ("ppn+", "ppn", "prototypes")
SETTING_NAMES = ("collection", "setting", "favourite")
ALL_STEPS = 1_000_000

People = Mapping[str, Any]
Machine = Mapping[str, Any]


def people_part(project: Project) -> People:
    """People's work: classes, images, labels, notes, policies, settings, and the undo history."""
    graph = project.classes.graph
    table = project.images.table()
    labels = project.labels.by_image().values()
    return {
        "classes": [
            (class_id, graph.name(class_id), graph.path_text(class_id))
            for class_id in graph.classes()
        ],
        "edges": sorted(graph.edges()),
        "levels": [list(level) for level in graph.levels()],
        "images": list(
            zip(
                table.ids,
                table.paths,
                table.parts,
                table.sizes_bytes,
                table.modified_ns,
                strict=True,
            )
        ),
        "detections": sorted(project.images.detections().items()),
        "labels": [
            (each.image_id, each.code, each.who, each.when.isoformat(), each.source)
            for each in labels
        ],
        "attributes": [
            (class_id, asdict(graph.attributes(class_id))) for class_id in graph.classes()
        ],
        "policies": [
            (class_id, asdict(policy))
            for class_id, policy in sorted(project.policies.by_class().items())
        ],
        "notes": [asdict(each) for each in project.notes.by_image().values()],
        "confirmed": [asdict(each) for each in project.labels.confirmations().values()],
        "fields": connection_of(project).rows("SELECT * FROM field_value ORDER BY image_id, field"),
        "settings": connection_of(project).rows("SELECT name, value FROM setting ORDER BY name"),
        "model": project.models.current.version_id,
        "steps": [
            (step.text, step.when.isoformat(), step.who)
            for step in project.history.steps(ALL_STEPS)
            if not step.is_undone
        ],
    }


def machine_part(project: Project) -> Machine:
    """Automatic results by name: facts of images, model versions with files, predictions."""
    table = project.images.table()
    facts = zip(table.ids, table.content_hashes, table.failures, strict=True)
    found: dict[str, Any] = {
        f"image {image_id}": (content_hash.hex() if content_hash else None, failure)
        for image_id, content_hash, failure in facts
        if content_hash or failure
    }
    for version in project.models.versions():
        found[f"version {version.version_id}"] = digest(_version(version))
        for content_hash in (
            (version.backbone_hash, version.propagation_hash) if version.is_trained_here else ()
        ):
            content = project.models.file(content_hash)
            found[f"file {content_hash}"] = hashlib.blake2b(content, digest_size=12).hexdigest()
    for setting in SETTINGS:
        if predictions := project.models.predictions(setting):
            found[f"predictions {setting}"] = digest(
                [asdict(prediction) for prediction in predictions]
            )
    return found


def everything(project: Project) -> Mapping[str, Any]:
    """All of it, with the redo history, counts and lists of the window."""
    return {
        "people": people_part(project),
        "machine": machine_part(project),
        "counts": [project.images.count, sorted(project.labels.counts().items())],
        "records": [asdict(record) for record in project.images.records()],
        "found": [
            project.images.find(project.images.resolve(record), record.part)
            for record in project.images.records()
        ],
        "undo": str(project.history.undo_action),
        "redo": str(project.history.redo_action),
        "history": [
            (step.step_id, step.text, step.when.isoformat(), step.who, step.is_undone)
            for step in project.history.steps(ALL_STEPS)
        ],
        "format": project.schema_version,
    }


def digest(value: Any) -> str:
    """A short text, equal for equal values."""
    text = json.dumps(value, sort_keys=True, default=_plain)
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def differing(first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    """Names of the parts that differ."""
    names = []
    for name in sorted({*first, *second}):
        one, other = first.get(name), second.get(name)
        if digest(one) == digest(other):
            continue
        is_deep = isinstance(one, Mapping) and isinstance(other, Mapping)
        names.append(f"{name} ({differing(one, other)})" if is_deep else name)  # type: ignore[arg-type]
    return ", ".join(names)


def _version(version: ModelVersion) -> Mapping[str, Any]:
    names = (
        "version_id",
        "backbone_name",
        "backbone_hash",
        "backbone_path",
        "propagation_hash",
        "created_at",
        "name",
        "parent_id",
        "card",
    )
    plain = {name: getattr(version, name) for name in names}
    return {
        **plain,
        "settings": dict(version.settings),
        "figures": dict(version.figures),
        "label": version.label,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return value.hex() if isinstance(value, bytes) else repr(value)
