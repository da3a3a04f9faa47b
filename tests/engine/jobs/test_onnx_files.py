"""The worker's verbs for the ONNX door, as the window sends them."""

import io
import json
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.backbones.library import BackboneLibrary
from engine.backbones.onnx_files.facts import facts_from
from engine.jobs.serve import run_worker
from tests.support import onnx_models as models
from tests.support.collections import Collection

Event = Mapping[str, Any]


def events(job: Mapping[str, Any]) -> tuple[int, list[Event]]:
    """Exit status and events of one job, in this process; what it starts itself runs in a child as ever."""
    stdout, is_done = io.StringIO(), threading.Event()

    def lines() -> Iterator[bytes]:
        yield json.dumps(job).encode() + b"\n"
        is_done.wait()  # the window keeps its end open as long as it lives

    try:
        status = run_worker(lines(), stdout)
    finally:
        is_done.set()
    return status, [json.loads(line) for line in stdout.getvalue().splitlines()]


def test_inspecting(tmp_path: Path) -> None:
    """The result holds all that a form needs, as plain data."""
    path = models.write_scores_and_features(tmp_path / "net.onnx")
    status, told = events({"verb": "inspect_backbone", "path": str(path)})
    result = dict(told[-1])
    assert (status, result.pop("event")) == (0, "result")
    facts = facts_from(result)
    assert facts.preprocessing.output == "pooled_features"
    assert [output.name for output in facts.outputs if not output.refused] == ["pooled_features", "logits"]


def test_a_file_that_is_none(tmp_path: Path) -> None:
    """The error is one line for the person."""
    (tmp_path / "net.onnx").write_bytes(b"PK\x03\x04")
    status, told = events({"verb": "inspect_backbone", "path": str(tmp_path / "net.onnx")})
    assert status == 1
    assert [event["event"] for event in told] == ["error"]
    assert "zip archive" in told[0]["message"]


def test_adding_with_a_project(tmp_path: Path, collection: Collection) -> None:
    """It is tried on the project's own images, step by step, and kept under the chosen name."""
    path = models.write_vectors(tmp_path / "net.onnx", side=models.SIDE)
    job = {
        "verb": "add_backbone", "path": str(path), "name": "mine", "preprocessing": {"channel_order": "bgr"},
        "project": str(collection.project),
    }  # fmt: skip
    status, told = events(job)
    assert status == 0
    assert [event["event"] for event in told] == ["progress"] * 4 + ["result"]
    assert [event["note"] for event in told[:3]] == ["looking at the file", "trying it on images", "keeping it"]
    assert (told[-1]["name"], told[-1]["width"]) == ("mine", models.WIDTH)
    assert BackboneLibrary().entry("mine").card.channel_order == "bgr"
