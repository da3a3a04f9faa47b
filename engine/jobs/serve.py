"""Worker mode: the same program as a child process that does one heavy job and tells about it in JSON lines.

The first line on standard input is the job, `{"verb": "embed", "project": path, "cache": path, "device": "auto"}` or
`{"verb": "train", "project": path, "cache": path, "depth": "propagation", "settings": {}, "out": path}` or
`{"verb": "change_backbone", "project": path, "cache": path, "backbone": name or path, "device": "auto"}`; those for
backbones of one's own are told in `engine.jobs.onnx_files`. Each line on standard output is one event:

    {"event": "progress", ...}          the fields of `engine.events.Progress`
    {"event": "batch", "results": [[image id, content hash in hex or null, failure or null], ...]}
    {"event": "point", "iteration": ..., "loss": ..., "validation_loss": ..., "accuracy": ...}   of a training's curve
    {"event": "result", ...}            the job is done
    {"event": "cancelled"}              it was stopped; what was finished is kept
    {"event": "error", "message": ...}  one line for a person

A line "cancel" on standard input stops the job, and so does its end: then the window has died.
"""

import json
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Final, final

from engine.config import CacheFolders
from engine.errors import Cancelled, ProtoleafError, UsageError
from engine.events import CancelToken, Progress
from engine.full_disk import told
from engine.jobs.backbone_change import change_backbone
from engine.jobs.devices import list_devices, probe
from engine.jobs.onnx_files import add_backbone, examine_backbone, inspect_backbone
from engine.jobs.published_networks import add_torchvision, list_torchvision
from engine.jobs.trial import try_backbone
from engine.log import Kind, logging_to_file
from engine.scratch_folder import clear_abandoned

_log = logging.getLogger(__name__)

CANCEL: Final = "cancel"

Result = tuple[int, bytes | None, str | None]
"""Image id, content hash when the file was read, failure when it could not be."""


@final
class EventWriter:
    """Writes one JSON event per line; safe from any thread."""

    def __init__(self, stdout: IO[str]) -> None:
        self._stdout = stdout
        self._lock = threading.Lock()

    def write(self, event: str, **fields: Any) -> None:
        """Write one event and flush it: in ASCII alone, as a path in it may be no valid Unicode."""
        line = json.dumps({"event": event, **fields})
        with self._lock:
            self._stdout.write(line + "\n")
            self._stdout.flush()

    def progress(self, progress: Progress) -> None:
        """Write how far the job is."""
        self.write("progress", **asdict(progress))

    def batch(self, results: Iterable[Result]) -> None:
        """Write what was found out about some images."""
        rows = [[image_id, content.hex() if content else None, failure] for image_id, content, failure in results]
        self.write("batch", results=rows)


Verb = Callable[[Mapping[str, Any], EventWriter, CancelToken], Mapping[str, Any]]
"""Does a job; gets its fields, tells its story to the writer, returns the fields of the result."""


def embed(job: Mapping[str, Any], events: EventWriter, cancel: CancelToken) -> Mapping[str, Any]:
    """Embed every image of a project that is not in the cache yet.

    Args:
        job: "project" and "cache" are paths; "device" is one of `providers.DEVICES`.

    Returns:
        the figures of the run.
    """
    from engine.collection.embed import embed_project
    from engine.project import Project

    caches = CacheFolders(Path(job["cache"]))
    with Project.open(Path(job["project"]), for_writing=False) as project:
        summary = embed_project(
            project,
            caches,
            device=job.get("device", "auto"),
            on_progress=events.progress,
            on_batch=lambda batch: events.batch(batch.results),
            cancel=cancel,
        )
    return {
        "embedded": summary.embedded,
        "from_cache": summary.from_cache,
        "failed": summary.failure_count,
        "missing": summary.missing,
        "seconds": summary.seconds,
        "images_per_s": summary.images_per_s,
        "device": summary.device_name,
        "notice": summary.notice,
        "reason": summary.reason,
    }


def draw_sample(job: Mapping[str, Any], events: EventWriter, cancel: CancelToken) -> Mapping[str, Any]:
    """Draw the sample collection and make its project.

    Args:
        job: "folder" and "cache" are paths.

    Returns:
        the project's path.
    """
    from engine.collection.sample_project import make_sample_project

    caches = CacheFolders(Path(job["cache"]))
    path = make_sample_project(Path(job["folder"]), caches, on_progress=events.progress, cancel=cancel)
    return {"project": str(path)}


def train(job: Mapping[str, Any], events: EventWriter, cancel: CancelToken) -> Mapping[str, Any]:
    """Train a model version on a project's labels; whoever asked adds it to the project.

    Args:
        job: "project" and "cache" are paths; "depth" is "propagation" or "backbone"; "settings" are values by name;
            "out" is a folder for the files, empty or missing, taken away again when the training fails or is stopped.

    Returns:
        folder, name and figures.
    """
    from engine.collection.training.train import train as run
    from engine.project import Project

    with Project.open(Path(job["project"]), for_writing=False) as project:
        trained = run(
            project,
            CacheFolders(Path(job["cache"])),
            job.get("depth", "propagation"),
            job.get("settings"),
            out=Path(job["out"]),
            on_progress=events.progress,
            on_point=lambda point: events.write("point", **asdict(point)),
            cancel=cancel,
        )
    return {"folder": str(trained.folder), "name": trained.name, "figures": dict(trained.figures)}


VERBS: Final[Mapping[str, Verb]] = {
    "embed": embed,
    "sample": draw_sample,
    "train": train,
    "inspect_backbone": inspect_backbone,
    "try_backbone": try_backbone,
    "add_backbone": add_backbone,
    "examine_backbone": examine_backbone,
    "change_backbone": change_backbone,
    "probe": probe,
    "list_devices": list_devices,
    "list_torchvision": list_torchvision,
    "add_torchvision": add_torchvision,
}


def run_worker(stdin: Iterator[bytes], stdout: IO[str], verbs: Mapping[str, Verb] = VERBS) -> int:
    """Do the one job that standard input asks for.

    Args:
        stdin: lines; the first is the job, a later "cancel" or the end stops it.
        stdout: takes the events.
        verbs: what can be asked for.

    Returns:
        exit status: 0 done or stopped, 1 failed, 2 not a job.
    """
    events = EventWriter(stdout)
    try:
        verb, job = _read_job(next(stdin, b""), verbs)
    except UsageError as error:
        events.write("error", message=str(error))
        return 2
    cancel = CancelToken()
    threading.Thread(target=_listen, args=(stdin, cancel), name="listener", daemon=True).start()
    try:
        events.write("result", **verb(job, events, cancel))
    except Cancelled:
        events.write("cancelled")
    except ProtoleafError as error:
        events.write("error", message=str(told(error, *_places(job))))
        return 1
    except Exception as error:
        if (plain := told(error, *_places(job))) is error:
            raise
        events.write("error", message=str(plain))
        return 1
    return 0


def _places(job: Mapping[str, Any]) -> list[Path]:
    """Files and folders that a job names: where a full disk is looked for."""
    return [Path(value) for value in job.values() if isinstance(value, str) and Path(value).is_absolute()]


def _read_job(line: bytes, verbs: Mapping[str, Verb]) -> tuple[Verb, Mapping[str, Any]]:
    try:
        job = json.loads(line)
        return verbs[job["verb"]], job
    except (ValueError, KeyError, TypeError) as error:
        found = line.decode("utf-8", "replace")[:80].strip() or "nothing"
        raise UsageError(
            "the worker was not given a job", expected=f"a JSON line with verb {' or '.join(verbs)}", found=found
        ) from error


def _listen(stdin: Iterator[bytes], cancel: CancelToken) -> None:
    for line in stdin:
        if line.strip() == CANCEL.encode():
            break
    cancel.cancel()


def main() -> int:
    """Run as a child process of the window.

    Returns:
        exit status.
    """
    clear_abandoned()
    # Unbuffered, so that the listening thread holds no lock that the interpreter wants at its end.
    with (
        logging_to_file(Kind.WORKER),
        _own_stdout() as stdout,
        os.fdopen(os.dup(0), "rb", buffering=0) as stdin,
    ):
        return run_worker(iter(stdin.readline, b""), stdout)


@contextmanager
def _own_stdout() -> Iterator[IO[str]]:
    """Keep standard output for events: what libraries print goes to standard error instead."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n") as stdout:
        os.dup2(2, 1)
        yield stdout


if __name__ == "__main__":
    sys.exit(main())
