"""The report of a fault, as plain text: versions, device, and what the log says. No Qt."""

import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from engine.config import log_folder
from engine.log import ProcessKind, has_fault, session_text
from engine.versions import versions

LINES_OF_EACH: Final = 80  # the most of each log: what went wrong stands at its end


def report_text(device: str, sessions: Sequence[str]) -> str:
    """Everything that somebody who mends the program must know; the person's home is written as `~`."""
    facts = [f"{name} {version}" for name, version in versions().items()]
    parts = ["\n".join([*facts, platform.platform(), device])]
    parts += ["\n".join(session.splitlines()[-LINES_OF_EACH:]) for session in sessions if session]
    return "\n\n".join(parts).replace(str(Path.home()), "~") + "\n"


def faulty_worker_sessions() -> list[str]:
    """The latest session in each worker's log, of those that had a fault."""
    sessions = map(session_text, sorted(log_folder().glob(f"{ProcessKind.WORKER}-*.log")))
    return [session for session in sessions if has_fault(session)]
