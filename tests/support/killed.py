"""Processes killed while they work."""

import signal
import subprocess
import sys
from pathlib import Path

_WAITS = "waits"
_PROGRAM = f"""
import sys
from pathlib import Path
from engine.new_folder import scratch_folder
with scratch_folder(Path(sys.argv[1])) as folder:
    (folder / "half").write_bytes(b"half")
    print("{_WAITS}", flush=True)
    sys.stdin.read()
"""


def killed_in_scratch_folder(parent: Path) -> None:
    """Let a process make a scratch folder, write into it and die of SIGKILL; return the folder."""
    with subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, str(parent)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline().strip() == _WAITS
        child.kill()
        child.wait()
    assert child.returncode == -signal.SIGKILL
