"""Run the window in a process of its own that writes a report and ends."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from engine.config import BACKUPS_VARIABLE, CACHE_VARIABLE, LOGS_VARIABLE, CacheFolders
from engine.errors import ProtoleafError
from engine.new_folder import scratch_folder

TIMEOUT_S = 240


def report_of(
    arguments: list[str],
    caches: CacheFolders,
    variable: str,
    more: Mapping[str, str] | None = None,
    *,
    timeout_s: float = TIMEOUT_S,
) -> dict[str, Any]:
    """Start a process, wait for its end and read its report.

    Args:
        arguments: of the Python interpreter.
        caches: for caches, backups and logs.
        variable: environment variable with the path of the report.
        more: further environment variables.

    Raises:
        ProtoleafError: the process ended without a report.
    """
    with scratch_folder() as folder:
        report = folder / "report.json"
        environment = {
            **os.environ,
            **(more or {}),
            variable: str(report),
            CACHE_VARIABLE: str(caches.root),
            BACKUPS_VARIABLE: str(caches.root / "backups"),
            LOGS_VARIABLE: str(caches.root / "logs"),
            "XDG_CONFIG_HOME": str(folder),
        }
        if not environment.get("DISPLAY") and sys.platform.startswith("linux"):
            environment["QT_QPA_PLATFORM"] = "offscreen"
        done = subprocess.run(  # noqa: S603 (our own program)
            [sys.executable, *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        if not report.exists():
            raise ProtoleafError(
                "the window wrote no report", found=done.stderr.strip()[-300:] or "no message"
            )
        fields: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return fields
