"""A Ray cluster of two nodes on this computer, in a process of its own, see `TwoNodes`.

The process writes the address of the head, removes the second node when it reads a line, and ends
when its standard input ends.
"""

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import final

import engine  # noqa: F401 (disables Ray's telemetry)

_REPOSITORY = Path(__file__).parents[2]
_START_S = 120.0
_PAUSE_S = 0.02


@final
class TwoNodes:
    """A running cluster of two nodes with one core each.

    Attributes:
        address: of its head.
        environment: of commands that use it.
    """

    def __init__(
        self, process: "subprocess.Popen[str]", address: str, environment: Mapping[str, str]
    ) -> None:
        self.address = address
        self.environment = environment
        self._process = process

    def lose_one(self) -> None:
        """Kill the second node with its processes."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("lose\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "lost\n"


@contextmanager
def two_nodes() -> Iterator[TwoNodes]:
    """Start a cluster, and stop it afterwards."""
    environment = {
        **program_environment(),
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.two_nodes"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=_REPOSITORY,
        env=environment,
    )
    try:
        assert process.stdout is not None
        yield TwoNodes(process, process.stdout.readline().strip(), environment)
        process.communicate("", timeout=_START_S)
    finally:
        process.kill()
        process.wait()


def program_environment() -> dict[str, str]:
    """Environment of commands that run from the repository in any folder."""
    return {**os.environ, "PYTHONPATH": str(_REPOSITORY)}


def started(
    *arguments: str | Path, environment: Mapping[str, str] | None = None, folder: Path | None = None
) -> "subprocess.Popen[str]":
    """Start a command of the program in a process."""
    return subprocess.Popen(
        [sys.executable, "-m", "app", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(environment or program_environment()),
        cwd=folder or _REPOSITORY,
    )


def answered(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    """Wait for a command: exit status and both outputs."""
    out, err = process.communicate(timeout=_START_S)
    return process.returncode, out, err


def shards_there(folder: Path, count: int, process: "subprocess.Popen[str]") -> bool:
    """Wait for a number of finished shards; return whether the command still runs."""
    end_s = time.monotonic() + _START_S
    while len(list((folder / "shards").glob("[0-9]*.parquet"))) < count:
        if process.poll() is not None or time.monotonic() > end_s:
            return False
        time.sleep(_PAUSE_S)
    return process.poll() is None


def _main() -> None:
    from ray.cluster_utils import Cluster

    options = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 100 * 1024**2}
    cluster = Cluster(initialize_head=True, head_node_args=options)
    options.pop("include_dashboard")
    second = cluster.add_node(**options)
    cluster.wait_for_nodes()
    sys.stdout.write(f"{cluster.address}\n")
    sys.stdout.flush()
    for _line in sys.stdin:
        cluster.remove_node(second, allow_graceful=False)
        sys.stdout.write("lost\n")
        sys.stdout.flush()
    cluster.shutdown()


if __name__ == "__main__":
    _main()
