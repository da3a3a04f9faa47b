"""Startup time of the installed window relative to the source, in alternating rounds.

`PYTHONPATH=packaging python -m installer.startup_ratio PROGRAM [ROUNDS]`, with a display or Qt's
offscreen platform.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from installer.places import ROOT

OPEN = "the window is open"
"""Log message of the window when its event loop runs."""
LIMIT = 1.3
"""Maximum ratio to the startup time from source."""
ROUNDS = 7
_TIMEOUT_S = 120
_POLL_S = 0.005


def main() -> int:
    """Measure, and print the medians and their ratio.

    Returns:
        exit status: 0 within the limit.
    """
    program, rounds = Path(sys.argv[1]).resolve(), int("".join(sys.argv[2:3]) or ROUNDS)
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "empty.protoleaf")
        environment = {
            **os.environ,
            "PROTOLEAF_CACHE": f"{folder}/cache",
            "PROTOLEAF_LOGS": f"{folder}/logs",
        }
        environment |= {"PROTOLEAF_BACKUPS": f"{folder}/backups", "PYTHONPATH": str(ROOT)}
        source = [sys.executable, "-m", "app"]
        subprocess.run(
            [*source, "new", str(project)],
            check=True,
            env=environment,
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
        )
        pairs = [
            (
                _visible_s(source, project, environment),
                _visible_s([str(program)], project, environment),
            )
            for _ in range(rounds + 1)
        ][1:]  # the first round warms the file cache
    from_source, installed = (statistics.median(times) for times in zip(*pairs, strict=True))
    ratio = statistics.median(b / a for a, b in pairs)
    sys.stdout.write(
        f"window visible: from source {from_source:.2f} s, installed {installed:.2f} s; "
        f"ratio {ratio:.2f} (limit {LIMIT}), medians of {rounds} rounds in turn\n"
    )
    return 0 if ratio <= LIMIT else 1


def _visible_s(command: list[str], project: Path, environment: dict[str, str]) -> float:
    """Seconds from the start until the window's log reports that it is open."""
    logs = Path(environment["PROTOLEAF_LOGS"])
    shutil.rmtree(logs, ignore_errors=True)
    started_s = time.monotonic()
    with subprocess.Popen([*command, str(project)], cwd=ROOT, env=environment) as process:
        while not any(
            OPEN in path.read_text(encoding="utf-8", errors="replace")
            for path in logs.rglob("*.log")
        ):
            if process.poll() is not None or time.monotonic() - started_s > _TIMEOUT_S:
                process.kill()
                raise RuntimeError(f"{command[0]} opened no window")
            time.sleep(_POLL_S)
        visible_s = time.monotonic() - started_s
        process.terminate()
    return visible_s


if __name__ == "__main__":
    sys.exit(main())
