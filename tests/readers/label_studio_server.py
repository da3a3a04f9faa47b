"""A local Label Studio: tasks that it imported, and its exports of them."""

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import parse_qs, urlsplit
from urllib.request import Request, urlopen

from tests.readers.readings import Found, back_in_protoleaf, by_a_person, reads

PROGRAM = "LABEL_STUDIO"  # the variable with its command
_NONE = [["none of the classes"]]
_EMAIL, _SECRET = "ada@example.org", "5" * 40
_PORT = 18_271
_LONGEST_START = 300  # seconds; creates its database first
_EXPORTS = {
    "JSON": "tasks.json",
    "JSON_MIN": "least.json",
    "CSV": "table.csv",
    "TSV": "table.tsv",
}


def _version() -> str:
    """The version of Label Studio in its own environment."""
    folder = Path(os.environ.get(PROGRAM, "/none/none")).parents[1]
    found = next(
        folder.glob("lib/*/site-packages/label_studio-*.dist-info"), Path("-(not installed).")
    )
    return found.stem.split("-")[1]


@reads("label-studio", "label-studio", f"label-studio (server) {_version()}", version_of="")
def tasks_of_server(path: Path) -> Found:
    """Every image is served; annotations have authors, and predictions scores."""
    return {
        _name(task): _facts(task)
        for task in json.loads((_exported(path) / "served.json").read_bytes())
    }


def _comes_back(name: str) -> Callable[[Path], Found]:
    """Our import of Label Studio's export of our tasks; its tables number people."""

    def read(path: Path) -> Found:
        found = back_in_protoleaf(path.parent, _exported(path) / name)
        return (
            found
            if name == "tasks.json"
            else {each: {"class": facts["class"]} for each, facts in found.items()}
        )

    return read


for _kind, _file in _EXPORTS.items():
    _register = reads(
        "label-studio",
        "label-studio",
        f"label-studio ({_kind}) and back {_version()}",
        of=by_a_person,
        version_of="",
    )
    _register(_comes_back(_file))


def _facts(task: dict[str, Any]) -> dict[str, Any]:
    given = task["annotations"] or task["predictions"]
    paths = given[0]["result"][0]["value"]["taxonomy"] if given else []
    by = "person" if task["annotations"] else "model" if given else None
    texts = ["/".join(name.replace("/", "\\/") for name in names) for names in paths]
    return {"by": by, "paths": [] if paths == _NONE else texts} | (
        {"score": given[0]["score"]} if by == "model" else {}
    )


def _name(task: dict[str, Any]) -> str:
    return Path(parse_qs(urlsplit(task["data"]["image"]).query)["d"][0]).name


@cache
def _exported(path: Path) -> Path:
    """Import our export into a project of a new server, request each image, and export it again."""
    folder = Path(tempfile.mkdtemp())
    with _server(folder / "server"):
        interface = (path / "labelling.xml").read_text(encoding="utf-8")
        project = json.loads(_asked("/api/projects", {"title": "ours", "label_config": interface}))[
            "id"
        ]
        photos = str(path.parent / "collection" / "photos")
        _asked(
            "/api/storages/localfiles", {"project": project, "path": photos, "use_blob_urls": True}
        )
        tasks = json.loads((path / "tasks.json").read_bytes())
        _asked(f"/api/projects/{project}/import", tasks)
        for task in tasks:
            assert _asked(task["data"]["image"]).startswith(b"\x89PNG")
        for kind, name in _EXPORTS.items():
            written = _asked(
                f"/api/projects/{project}/export?exportType={kind}&download_all_tasks=true"
            )
            (folder / name).write_bytes(written)
        numbers = [task["id"] for task in json.loads((folder / "tasks.json").read_bytes())]
        served = [json.loads(_asked(f"/api/tasks/{number}")) for number in numbers]
        (folder / "served.json").write_text(json.dumps(served), encoding="utf-8")
    return folder


@contextmanager
def _server(folder: Path) -> Iterator[None]:
    """A server without projects and network."""
    if PROGRAM not in os.environ:
        raise RuntimeError("it does not install here; pip says why above")
    folder.mkdir()
    settings = {
        "LABEL_STUDIO_BASE_DATA_DIR": str(folder),
        "LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED": "true",
        "LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT": "/",
        "COLLECT_ANALYTICS": "false",
        "LATEST_VERSION_CHECK": "false",
        "SENTRY_DSN": "",
    }
    command = [
        os.environ[PROGRAM],
        "start",
        "--no-browser",
        "--internal-host",
        "127.0.0.1",
        "--port",
        str(_PORT),
    ]
    command += [
        "--username",
        _EMAIL,
        "--password",
        _SECRET,
        "--user-token",
        _SECRET,
        "--enable-legacy-api-token",
    ]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            command,
            env=os.environ | settings,
            stdout=log,
            stderr=log,
            cwd=folder,
            start_new_session=True,
        )
        try:
            _wait_for(server, folder / "log")
            yield
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait()


def _wait_for(server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _LONGEST_START
    while time.monotonic() < end and server.poll() is None:
        try:
            _asked("/api/projects")
        except (URLError, OSError):
            time.sleep(1)
        else:
            return
    raise RuntimeError(
        f"it does not start here: {log.read_text(encoding='utf-8', errors='replace')[-200:]}"
    )


def _asked(place: str, sent: object = None) -> bytes:
    """Send a request; POST if there is data."""
    request = Request(
        f"http://127.0.0.1:{_PORT}{place}",
        data=None if sent is None else json.dumps(sent).encode(),
        headers={"Authorization": f"Token {_SECRET}", "Content-Type": "application/json"},
    )
    with urlopen(request, timeout=120) as answer:  # noqa: S310
        return bytes(answer.read())
