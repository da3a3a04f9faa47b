"""A child process that looks at a file nobody vouches for, held to limits: what goes wrong there is one clear error."""

from collections.abc import Sequence
from typing import Final, TypeVar

from engine.errors import ModelError
from engine.events import CancelToken
from engine.worker.client import Died, Done, TookTooLong, TookTooMuchMemory, run
from engine.worker.limits import Limits, ending_text
from engine.worker.protocol import Failed, Request

R = TypeVar("R")

_PROGRAM_BYTES: Final = 2**29  # what the program takes itself, generously
_LONGEST_WORDS: Final = 200
_LONGEST_REASON: Final = 1_000
_REMEDY: Final = "use another file"


def ask_child(
    request: Request[R], limits: Limits, *, cancel: CancelToken | None = None, command: Sequence[str] = ()
) -> R:
    """Let a child process, by default this program as a worker, do one job on an untrusted file within limits.

    Raises:
        ModelError: what the child found wrong, or that it crashed, took too long, or took too much memory.
        Cancelled: `cancel` was set.
    """
    memory_bytes = limits.memory_bytes + _PROGRAM_BYTES
    try:
        ending = run(request, limit_s=limits.seconds, memory_bytes=memory_bytes, cancel=cancel, command=command)
    except OSError as error:
        raise ModelError("the file cannot be examined: no process can be started", found=str(error)) from error
    match ending:
        case Done(result):
            return result
        case Failed(message) if message:
            raise ModelError(_shown(message))
        case TookTooLong():
            within = "an answer within {limit:g} s"
            raise ModelError("the model takes too long", expected=within, remedy=_REMEDY, limit=limits.seconds)
        case TookTooMuchMemory():
            raise too_much_memory(limits.memory_bytes)
    raise ModelError("the model crashed the process that examined it", found=_last_words(ending), remedy=_REMEDY)


def _last_words(ending: Failed | Died) -> str:
    if isinstance(ending, Failed):
        return ending.traceback.strip().splitlines()[-1][:_LONGEST_WORDS]
    words = ending.last_line[:_LONGEST_WORDS]
    return f"{ending_text(ending.status)} " + (f"({words})" if words else "")


def _shown(reason: str) -> str:
    """A reason as it may stand on a screen: names from the file are part of it, of any length and with any letters."""
    plain = "".join(letter if letter.isprintable() else "�" for letter in reason[: _LONGEST_REASON + 1])
    return plain if len(plain) <= _LONGEST_REASON else f"{plain[: _LONGEST_REASON - 1]}…"


def too_much_memory(limit_bytes: int) -> ModelError:
    """The model wants more memory than it may have."""
    return ModelError(
        "the model needs too much memory", expected="at most {limit:,.0f} MB", remedy=_REMEDY, limit=limit_bytes / 2**20
    )
