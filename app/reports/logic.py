"""Problem report as plain text: versions, device, excerpts of logs. No Qt."""

import platform
from collections.abc import Sequence
from pathlib import Path

from engine.config import log_folder
from engine.log import ProcessKind, has_fault, session_text
from engine.versions import versions

LINES_OF_EACH = 80  # maximum number per log; errors are at the end


def report_text(device: str, sessions: Sequence[str]) -> str:
    """Report for developers; the home folder is replaced by `~`."""
    facts = [f"{name} {version}" for name, version in versions().items()]
    parts = ["\n".join([*facts, platform.platform(), device])]
    parts += ["\n".join(session.splitlines()[-LINES_OF_EACH:]) for session in sessions if session]
    return "\n\n".join(parts).replace(str(Path.home()), "~") + "\n"


def faulty_worker_sessions() -> list[str]:
    """Latest session of each worker log, if it had a fault."""
    sessions = map(session_text, sorted(log_folder().glob(f"{ProcessKind.WORKER}-*.log")))
    return [session for session in sessions if has_fault(session)]
