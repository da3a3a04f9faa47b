"""Connection to a Ray cluster. Only this module and `ray_workers` import Ray.

Ray sends usage statistics unless `RAY_USAGE_STATS_ENABLED` disables them before the import;
`engine.config` sets it. A local cluster has a token that is never written to disk, no dashboard,
and its files in a scratch folder.
"""

import logging
import os
import secrets
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import (
    InputError,
    NetworkError,
    ProtoleafError,
    StorageError,
    UsageError,
    reason_of,
)
from engine.events import CancelToken
from engine.new_folder import scratch_folder
from engine.runtime.sessions import one_line, usable_cores
from protoleaf_cluster.shard_work import Resources

LOCAL = "local"  # single-node cluster, started for one command
RUNNING = "auto"  # running cluster of this computer
CONNECT_S = 60.0  # timeout of a connection. Chosen: Ray itself takes up to ten seconds.
_TOKEN_VARIABLE = "RAY_AUTH_TOKEN"  # noqa: S105 (a name)
_KNOCK_S = 10.0  # timeout of the TCP connection
_log = logging.getLogger(__name__)
_POLL_S = 0.1  # delay until a cancellation is noticed, at most
_STORE_BYTES = 100 * 1024**2  # of Ray's shared memory, used only for shard numbers
_SHORT_FOLDER = Path("/tmp")  # noqa: S108 (if the default is too long for socket paths)
_LONGEST_FOLDER = 12
"""Maximum length of the folder's path. Socket paths have at most 107 bytes, most of them Ray's."""


@dataclass(frozen=True)
class ClusterSize:
    """Total resources of a cluster."""

    nodes: int
    cores: int
    gpus: int

    def workers(self, *, with_gpu: bool) -> tuple[int, Resources]:
        """Number of workers and resources of each: one per GPU, or one per core without GPUs."""
        if with_gpu:
            return self.gpus, Resources(max(1, self.cores // self.gpus), has_gpu=True)
        return self.cores, Resources()


@contextmanager
def connected(
    address: str, cancel: CancelToken, *, cores: int | None = None
) -> Iterator[ClusterSize]:
    """Connect to a cluster for the duration of a `with` block.

    Args:
        address: `LOCAL`, `RUNNING`, or HOST:PORT of the head node.
        cores: of a local cluster; None: all that the process may use.

    Raises:
        UsageError: the address is invalid.
        NetworkError: the cluster does not answer.
        InputError: it runs another version of Ray or Python.
        Cancelled: `cancel` was set while connecting.
    """
    if address != LOCAL:
        ray = _load_ray()
        _knock(address)
        yield from _inside(ray, {"address": address}, cancel)
    else:
        ray = _load_ray(is_secret_needed=True)
        with scratch_folder(_scratch_place()) as folder:
            options = {
                "address": LOCAL,
                "num_cpus": cores or usable_cores(),
                "include_dashboard": False,
                "object_store_memory": _STORE_BYTES,
                "_temp_dir": str(folder / "ray"),
            }
            yield from _inside(ray, options, cancel)


def _scratch_place() -> Path | None:
    """Folder for files of a local cluster; None: the default, if short enough for socket paths."""
    if len(tempfile.gettempdir()) <= _LONGEST_FOLDER or not _SHORT_FOLDER.is_dir():
        return None
    return _SHORT_FOLDER


def _inside(ray: Any, options: dict[str, Any], cancel: CancelToken) -> Iterator[ClusterSize]:
    address, failures = str(options["address"]), list[Exception]()

    def connect() -> None:
        try:
            with _own_signals():
                ray.init(**options, log_to_driver=False, logging_level="CRITICAL")
        except Exception as error:  # noqa: BLE001 (Ray raises various types; raised again below)
            failures.append(error)

    try:
        if address == LOCAL:
            # On this thread: the system kills subprocesses when the thread that started them ends.
            connect()
        else:
            _within_time(connect, address, cancel)
        if failures:
            raise _refusal(address, failures[0]) from failures[0]
        yield _size(ray)
    finally:
        ray.shutdown()


def _load_ray(*, is_secret_needed: bool = False) -> Any:
    """Import Ray; set the token of a local cluster before, else Ray writes one to a file."""
    if is_secret_needed and _TOKEN_VARIABLE not in os.environ and "ray" not in sys.modules:
        os.environ |= {"RAY_AUTH_MODE": "token", _TOKEN_VARIABLE: secrets.token_hex(32)}
    import ray

    # WORKAROUND: Ray prints node events on standard output, which is for results. Can go when
    # `log_to_driver` covers it.
    ray._private.worker.print_to_stdstream = _to_log  # noqa: SLF001
    return ray


def _to_log(data: Mapping[str, Any], ignore_prefix: bool) -> None:
    """Write Ray's console output to the log; the name of the second argument is Ray's."""
    del ignore_prefix
    for line in data["lines"]:
        _log.info("Ray: %s", str(line).partition("Last 20 lines")[0])


def _knock(address: str) -> None:
    """Check that an address accepts connections: Ray would retry for minutes."""
    if address == RUNNING:
        return
    host, separator, port = address.rpartition(":")
    if not separator or not port.isdecimal() or "/" in host:
        raise UsageError(
            "this is not the address of a Ray cluster",
            expected="local, auto, or HOST:PORT of its head, from a node of the cluster",
            found=address,
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_S).close()
    except (OSError, OverflowError) as error:
        raise _silent(address, reason_of(error)) from error


@contextmanager
def _own_signals() -> Iterator[None]:
    """Restore the SIGTERM handler of this process, which Ray replaces."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _within_time(connect: Callable[[], None], address: str, cancel: CancelToken) -> None:
    """Connect on a thread with a timeout: Ray has none if a host never answers."""
    thread = threading.Thread(target=connect, name="connect to Ray", daemon=True)
    thread.start()
    end_s = time.monotonic() + CONNECT_S
    while thread.is_alive() and time.monotonic() < end_s:
        cancel.raise_if_cancelled()
        thread.join(_POLL_S)
    if thread.is_alive():
        raise _silent(address, f"nothing in {CONNECT_S:.0f} s")


def _silent(address: str, found: str) -> NetworkError:
    return NetworkError(
        "the cluster does not answer",
        expected="the head of a Ray cluster at {address}",
        found=found,
        remedy="check the address with `ray status` on a node of the cluster",
        address=address,
    )


def _refusal(address: str, error: Exception) -> ProtoleafError:
    text = one_line(error)
    if address == LOCAL:
        return StorageError("Ray cannot be started on this computer", found=text)
    if "version" in str(error).lower() and "mismatch" in str(error).lower():
        python = ".".join(map(str, sys.version_info[:3]))
        return InputError(
            "the cluster runs another version of Ray or Python",
            expected="the versions of this computer: Python {python}",
            found=text,
            remedy="install the same versions here and on every node",
            python=python,
        )
    return _silent(address, text)


def _size(ray: Any) -> ClusterSize:
    has = ray.cluster_resources()
    nodes = sum(bool(node["Alive"]) for node in ray.nodes())
    return ClusterSize(nodes, int(has.get("CPU", 0)), int(has.get("GPU", 0)))
