"""Workers that take no time for the backbone panel, and a list of published networks that nobody asked for."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from app.jobs.process_job import ProcessJob
from engine.backbones.published import networks as networks_module
from engine.backbones.published.facts import PublishedNetwork
from engine.config import CacheFolders

_CHILD: Final = """
import json, sys
sys.stdin.readline()
for line in json.loads(sys.argv[1]):
    if line == "wait":
        sys.stdin.readline()
        print(json.dumps({"event": "cancelled"}), flush=True)
        sys.exit(0)
    print(json.dumps(line), flush=True)
sys.exit(1 if line.get("event") == "error" else 0)
"""

Event = Mapping[str, Any] | str

SMALL: Final = PublishedNetwork(
    network="smallnet", weights="IMAGENET1K_V1", is_default=True, url="http://127.0.0.1:9/smallnet-0123abcd.pth",
    sha256_prefix="0123abcd", size_bytes=4_800_000, parameters=1_200_000, top1=58.1, top5=80.4,
    billion_operations=0.8, input_side=224, resize_side=256, interpolation="bilinear", mean=(0.485, 0.456, 0.406),
    std=(0.229, 0.224, 0.225), embedding_width=512, licence="none named for the weights",
    licence_url="https://example.org/licence", recipe_url="https://example.org/recipe",
)  # fmt: skip
LARGE: Final = replace(
    SMALL, network="largenet", weights="IMAGENET1K_SWAG_V1", url="http://127.0.0.1:9/largenet-4567abcd.pth",
    sha256_prefix="4567abcd", size_bytes=343_000_000, top1=85.3, input_side=384,
    licence="CC-BY-NC 4.0: not for commercial use",
)  # fmt: skip


class Player:
    """Makes jobs that play scripts, one after the other, and remembers what was asked for.

    Args:
        scripts: events of each job; "wait" stays until somebody cancels.
    """

    def __init__(self, *scripts: Sequence[Event]) -> None:
        self.requests: list[dict[str, Any]] = []
        self._scripts = list(scripts)

    def __call__(self, title: str, request: dict[str, Any]) -> ProcessJob:
        """Make the next job."""
        self.requests.append(request)
        return ProcessJob(title, request, [sys.executable, "-S", "-c", _CHILD, json.dumps(self._scripts.pop(0))])


def progress(done: int, total: int, unit: str = "images", *, rate: float = 10.0) -> Event:
    """An event that tells how far a job is."""
    return {
        "event": "progress", "done": done, "total": total, "unit": unit, "rate_per_s": rate,
        "seconds_left": (total - done) / rate, "note": "",
    }  # fmt: skip


def keep_list(caches: CacheFolders, networks: Sequence[PublishedNetwork] = (SMALL, LARGE)) -> None:
    """Put a list into the cache, as if it had been made before: the worker then needs no torch for it."""
    networks_module._keep_list(caches, networks)
