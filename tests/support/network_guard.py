"""Run a program without network, and report its attempts by `guarded_start`."""

import errno
import fcntl
import os
import platform
import select
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.guarded_start import MACHINES

_LAUNCHER = Path(__file__).with_name("guarded_start.py")
_RECEIVE = 0xC0502100  # SECCOMP_IOCTL_NOTIF_RECV
_ANSWER = 0xC0182101  # SECCOMP_IOCTL_NOTIF_SEND
_QUESTION = struct.Struct("=QIIiIQ6Q")
_REPLY = struct.Struct("=QqiI")
_GO_ON = 1
_LOCAL = frozenset({socket.AF_UNIX, socket.AF_NETLINK})
"""Socket families within this computer: between processes, and to the kernel."""

_RESOLVERS = ("nscd", "systemd/resolve", "avahi")
"""In paths of local sockets of name services."""

_LONGEST_ADDRESS = 128


@dataclass
class Guarded:
    """Result of a guarded program.

    Attributes:
        status: its exit status.
        out, err: its output.
        attempts: one line for each external socket, with the process.
        asked_local: paths of connected local sockets.
    """

    status: int = 0
    out: str = ""
    err: str = ""
    attempts: list[str] = field(default_factory=list)
    asked_local: list[str] = field(default_factory=list)


class NoGuardError(Exception):
    """The system permits no filter: in some containers, or not on Linux."""


def run_guarded(
    command: Sequence[str | Path],
    environment: Mapping[str, str],
    folder: Path,
    *,
    input_text: str = "",
    timeout_s: float = 300,
) -> Guarded:
    """Run a program with a guard on its sockets and those of its children.

    External sockets are recorded and refused as if there were no network. Name services are refused
    too: the C library then does the lookup itself, which needs a socket.

    Args:
        command: program, as a path, and arguments.
        environment: all of it.
        folder: working folder.
        input_text: written to its standard input, which stays open; at most a few kB.
        timeout_s: it is ended after this.

    Raises:
        NoGuardError: the guard is not available.
        subprocess.TimeoutExpired: it took longer.
    """
    found = Guarded()
    with (
        _input(input_text) as stdin,
        _started(command, environment, folder, stdin) as (process, channel),
    ):
        listener = _listener(channel)
        with _answering(listener, found):
            channel.send(b"!")
            found.out, found.err = process.communicate(timeout=timeout_s)
    found.status = process.returncode
    return found


@contextmanager
def _input(input_text: str) -> Iterator[int]:
    """Standard input with a text that stays open."""
    reading, writing = os.pipe()
    try:
        os.write(writing, input_text.encode())
        yield reading
    finally:
        os.close(reading)
        os.close(writing)


@contextmanager
def _started(
    command: Sequence[str | Path], environment: Mapping[str, str], folder: Path, stdin: int
) -> Iterator[tuple[subprocess.Popen[str], socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            process = subprocess.Popen(
                [
                    sys.executable,
                    "-I",
                    "-S",
                    str(_LAUNCHER),
                    str(theirs.fileno()),
                    *map(str, command),
                ],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                env=dict(environment),
                cwd=folder,
                pass_fds=[theirs.fileno()],
            )
        with process:
            try:
                yield process, ours
            finally:
                process.kill()


def _listener(channel: socket.socket) -> int:
    words, files, _flags, _address = socket.recv_fds(channel, 200, 1)
    if not files:
        raise NoGuardError(words.decode())
    return files[0]


@contextmanager
def _answering(listener: int, found: Guarded) -> Iterator[None]:
    """Answer the kernel's notifications on a thread."""
    hears, says = os.pipe()
    thread = threading.Thread(
        target=_answer_all, args=(listener, hears, found), name="network guard"
    )
    thread.start()
    try:
        yield
    finally:
        os.write(says, b"!")
        thread.join()
        for file in (listener, hears, says):
            os.close(file)


def _answer_all(listener: int, end: int, found: Guarded) -> None:
    waiting = select.poll()
    waiting.register(listener, select.POLLIN)
    waiting.register(end, select.POLLIN)
    while True:
        ready = dict(waiting.poll())
        if ready.get(listener, 0) & select.POLLIN:
            with suppress(FileNotFoundError, ProcessLookupError):  # the process has ended
                _answer(listener, found)
        elif ready.get(listener, 0):  # all guarded processes have ended
            waiting.unregister(listener)
        elif end in ready:
            return


def _answer(listener: int, found: Guarded) -> None:
    asked = bytearray(_QUESTION.size)
    fcntl.ioctl(listener, _RECEIVE, asked)
    number, thread, _flags, call, _machine, _at, *arguments = _QUESTION.unpack(asked)
    refusal = 0
    try:
        if call == MACHINES[platform.machine()].connect:
            refusal = _about_connecting(thread, arguments, found)
        elif arguments[0] not in _LOCAL:
            found.attempts.append(f"{_who(thread)} requested a socket of kind {arguments[0]}")
            refusal = -errno.EAFNOSUPPORT
    finally:
        fcntl.ioctl(
            listener, _ANSWER, bytearray(_REPLY.pack(number, 0, refusal, 0 if refusal else _GO_ON))
        )


def _about_connecting(thread: int, arguments: Sequence[int], found: Guarded) -> int:
    """Errno for a connection, or 0; reads the address from the caller's memory."""
    try:
        with Path(f"/proc/{thread}/mem").open("rb", buffering=0) as memory:
            memory.seek(arguments[1])
            address = memory.read(min(arguments[2], _LONGEST_ADDRESS))
    except PermissionError:
        found.attempts.append(f"{_who(thread)} connected to an address that may not be read")
        return -errno.EACCES
    kind = int.from_bytes(address[:2], sys.byteorder)
    path = (
        address[2:].lstrip(b"\0").split(b"\0")[0].decode("utf-8", "replace")
        if kind == socket.AF_UNIX
        else ""
    )
    if kind in _LOCAL:
        found.asked_local.append(path)
        return -errno.ECONNREFUSED if any(name in path for name in _RESOLVERS) else 0
    found.attempts.append(f"{_who(thread)} connected to an address of kind {kind}")
    return -errno.ENETUNREACH


def _who(thread: int) -> str:
    """Program and thread of a call."""
    words = Path(f"/proc/{thread}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    return (
        f"{' '.join(words)[:200].strip()} (thread "
        f"{Path(f'/proc/{thread}/comm').read_text().strip()})"
    )
