"""Run a function of the engine in a child that is killed at a given file operation."""

import subprocess
import sys
from collections.abc import Sequence

_SCRIPT = """
import os, signal, sys
{setup}
left = int(sys.argv[1])
WATCHED = ("open", "os.rename", "os.link", "os.remove", "os.truncate", "os.chmod", \
"sqlite3.connect")
def watch(event, _arguments):
    global left
    if event in WATCHED:
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(watch)
{action}
print("done", int(sys.argv[1]) - left)
"""


def run_and_kill(setup: str, action: str, at: int, arguments: Sequence[str] = ()) -> int | None:
    """Run and be killed at the given file operation.

    Args:
        setup: statements before the operations are counted.
        action: statements that are counted.
        at: which operation, from 1; 0 for none.
        arguments: for the script, from `sys.argv[2]`.

    Returns:
        Number of operations; None if it was killed.
    """
    script = _SCRIPT.format(setup=setup, action=action)
    run = subprocess.run(
        [sys.executable, "-c", script, str(at), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode == -9:
        return None
    assert run.returncode == 0, run.stderr
    return int(run.stdout.split()[-1])
