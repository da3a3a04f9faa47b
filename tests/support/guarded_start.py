"""Start a program under a seccomp filter that reports its sockets and connections.

python -I -S guarded_start.py CHANNEL PROGRAM ARGUMENTS...

Run as a script, with the standard library only. CHANNEL is the number of an inherited local socket.
The filter suspends every call of socket() and connect() in this process, its threads and its
children until the listener, which is sent through CHANNEL, has answered. It works for any language
and library.
"""

import ctypes
import os
import platform
import socket
import struct
import sys
from typing import NamedTuple


class Calls(NamedTuple):
    """System call numbers and the filter's name of the processor."""

    architecture: int
    seccomp: int
    socket: int
    connect: int
    io_uring_setup: int = 425


MACHINES = {
    "x86_64": Calls(0xC000003E, seccomp=317, socket=41, connect=42),
    "aarch64": Calls(0xC00000B7, seccomp=277, socket=198, connect=203),
}
_NO_NEW_PRIVILEGES = 38
_SET_FILTER = 1
_NEW_LISTENER = 8
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _ASK, _NO_SUCH_CALL, _KILL = 0x7FFF0000, 0x7FC00000, 0x00050026, 0x80000000
_CALL_AT, _ARCHITECTURE_AT = 0, 4


def install(calls: Calls) -> int:
    """Install the filter in this process, permanently.

    Returns:
        File descriptor of the listener.

    Raises:
        OSError: the system allows no such filter.
    """
    program = (
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_EQUAL, 1, 0, calls.architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _CALL_AT),
        (_EQUAL, 4, 0, calls.socket),
        (_EQUAL, 3, 0, calls.connect),
        (
            _EQUAL,
            1,
            0,
            calls.io_uring_setup,
        ),  # io_uring bypasses seccomp filters
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _NO_SUCH_CALL),
        (_RETURN, 0, 0, _ASK),
    )
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in program))
    described = ctypes.create_string_buffer(
        struct.pack("@HP", len(program), ctypes.addressof(code))
    )
    system = ctypes.CDLL(None, use_errno=True)
    if system.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "no_new_privs")
    listener = system.syscall(calls.seccomp, _SET_FILTER, _NEW_LISTENER, described)
    if listener < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(listener)


def main() -> None:
    """Install the filter, send the listener, execute the program."""
    with socket.socket(fileno=int(sys.argv[1])) as channel:
        try:
            listener = install(MACHINES[platform.machine()])
        except (KeyError, OSError) as error:
            channel.send(f"no: {error}".encode())
            sys.exit(1)
        socket.send_fds(channel, [b"yes"], [listener])
        os.close(listener)
        channel.recv(1)  # the listener was received
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606


if __name__ == "__main__":
    main()
