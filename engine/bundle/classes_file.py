"""`classes.json` of an exported model: graph, thresholds (may be edited) and preprocessing."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.embedding.views import VIEWS, closer_side
from engine.errors import FormatError, ProtoleafError, reason_of
from engine.everyday.back_off import BackOff, Policy
from engine.everyday.classifier import COARSE, PROBABILITIES
from engine.graph.arrays import roll_up_matrix
from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph.class_attributes import ClassAttributes
from engine.texts import Message

FORMAT = "protoleaf model"
VERSION = 1  # of the format; an older program refuses a higher one
NAME = "classes.json"


@dataclass(frozen=True)
class Framing:
    """Crop of the images."""

    side: int  # of each view, in pixels
    resize_share: float  # share of the short side within the crop
    views: int  # 1, or `VIEWS` with the corners


@dataclass(frozen=True)
class ExportedClasses:
    """The contents of `classes.json`."""

    name: str  # of the model, for the column `model`
    setting: str  # for the column `setting`
    graph: CategoryGraph
    framing: Framing
    back_off: BackOff  # candidates and coarse classes in the order of the outputs, with thresholds
    unknown_distance: float  # squared distance beyond which an image is unknown
    sha256: str  # of `classifier.onnx`


def classes_text(
    contents: ExportedClasses, policies: Mapping[ClassId, Policy], bars: Mapping[ClassId, float]
) -> str:
    """`classes.json`; `bars` are the effective thresholds of all classes."""
    graph, rules = contents.graph, contents.back_off
    may_be_named = np.isfinite(np.concatenate([rules.coarse_bars, rules.candidate_bars]))
    named = set(np.concatenate([rules.coarse_ids, rules.candidate_ids])[may_be_named].tolist())
    levels = sorted(graph.classes(), key=lambda class_id: (graph.level(class_id), class_id))
    limit = contents.unknown_distance
    fields = {
        "format": FORMAT,
        "version": VERSION,
        "name": contents.name,
        "setting": contents.setting,
        "image": {**vars(contents.framing), "closer_side": closer_side(contents.framing.side)},
        "unknown_distance": limit if math.isfinite(limit) else None,
        PROBABILITIES: rules.candidate_ids.tolist(),
        COARSE: rules.coarse_ids.tolist(),
        "sha256": contents.sha256,
        "classes": [
            {
                "id": class_id,
                "name": graph.name(class_id),
                "path": graph.path_text(class_id),
                "parents": list(graph.parents(class_id)),
                "level": graph.level(class_id),
                "bar": bars[class_id],
                "is_deepest": class_id in policies and policies[class_id].is_deepest,
                "is_broadest": class_id in policies and policies[class_id].is_broadest,
                "may_be_named": class_id in named,
                "source_id": graph.attributes(class_id).source_id,
                "synonyms": list(graph.attributes(class_id).synonyms),
            }
            for class_id in levels
        ],
    }
    return json.dumps(fields, ensure_ascii=False, indent=1) + "\n"


def read_classes(text: str, *, source: str) -> ExportedClasses:
    """Read `classes.json`; `source` is for error messages.

    Raises:
        FormatError: it is damaged, or of a newer program.
    """
    try:
        fields: dict[str, Any] = json.loads(text)
        _check_format(fields, source)
        return _classes_of(fields)
    except FormatError:
        raise
    except (
        ProtoleafError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        is_missing = isinstance(error, KeyError)
        reason = Message("no “{name}”", {"name": error.args[0]}) if is_missing else reason_of(error)
        raise FormatError(
            "this is not the {file} of an exported model, or it is damaged",
            expected="what `protoleaf export PROJECT model FOLDER` writes, format “{format}”",
            found="{source}: {reason}",
            remedy="export the model again",
            file=NAME,
            format=FORMAT,
            source=source,
            reason=reason,
        ) from error


def _check_format(fields: Mapping[str, Any], source: str) -> None:
    if fields["format"] != FORMAT:
        raise ValueError(f"the format “{fields['format']}”")
    if int(fields["version"]) > VERSION:
        raise FormatError(
            "this model was exported by a newer version of Protoleaf",
            expected="version {version} of the folder",
            found="version {found_version} in {source}",
            remedy="update Protoleaf",
            version=VERSION,
            found_version=fields["version"],
            source=source,
        )


def _classes_of(fields: Mapping[str, Any]) -> ExportedClasses:
    graph, listed = CategoryGraph(), {int(one["id"]): one for one in fields["classes"]}
    for class_id, one in listed.items():
        names = ClassAttributes(str(one["source_id"]), tuple(map(str, one["synonyms"])))
        graph.add_class(
            str(one["name"]), tuple(map(int, one["parents"])), class_id=class_id, attributes=names
        )
    image = fields["image"]
    framing = Framing(int(image["side"]), float(image["resize_share"]), int(image["views"]))
    if framing.side < 1 or not 0 < framing.resize_share <= 1 or framing.views not in {1, VIEWS}:
        raise ValueError(f"images of {framing.side} pixels in {framing.views} views")
    limit = fields["unknown_distance"]
    rules = _rules(
        graph,
        listed,
        [int(each) for each in fields[PROBABILITIES]],
        [int(each) for each in fields[COARSE]],
    )
    return ExportedClasses(
        str(fields["name"]),
        str(fields["setting"]),
        graph,
        framing,
        rules,
        math.inf if limit is None else float(limit),
        str(fields["sha256"]),
    )


def _rules(
    graph: CategoryGraph,
    listed: Mapping[ClassId, Any],
    candidates: Sequence[ClassId],
    coarse: Sequence[ClassId],
) -> BackOff:
    if not candidates:
        raise ValueError("no class to choose among")
    bars = {
        each: float(one["bar"]) if one["may_be_named"] else math.inf for each, one in listed.items()
    }
    return BackOff(
        np.array(candidates, dtype=np.int64),
        np.array([bars[each] for each in candidates], dtype=np.float32),
        np.array(coarse, dtype=np.int64),
        np.array([bars[each] for each in coarse], dtype=np.float32),
        np.array([int(listed[each]["level"]) for each in coarse], dtype=np.int64),
        roll_up_matrix(graph, coarse, candidates)
        if coarse
        else np.zeros((len(candidates), 0), dtype=np.float32),
    )
