"""Messages between two processes of the program, and their encoding.

A message is a frozen dataclass, and one line of JSON on its way:

    {"version": of the program, "number": of the request, "kind": the dataclass, "body": its fields}

A request has a result type and event types, so each side decodes only what it expects. Requests
are defined in the package of their subject; `engine.jobs` handles them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar, get_args

from engine import __version__
from engine.errors import FormatError, ProtoleafError, from_data
from engine.events import Progress
from engine.texts import Message, with_messages

R = TypeVar("R")

_SHOWN = 80  # characters of a line that cannot be read


class Request(Generic[R]):
    """Base of requests: frozen dataclasses, generic in their result."""

    # dataclass of the result, taken from the base `Request[Result]`
    result_type: ClassVar[type[Any]]
    # dataclasses of the events besides `Progress`
    event_types: ClassVar[tuple[type[Any], ...]] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        (base,) = cls.__orig_bases__  # type: ignore[attr-defined]
        (cls.result_type,) = get_args(base)


@dataclass(frozen=True)
class Cancel:
    """Stops the request of this number."""


@dataclass(frozen=True)
class Failed:
    """A request failed."""

    message: str  # one line in English; empty where a bug ended the request
    traceback: str = ""  # of the bug
    error: dict[str, Any] | None = None  # what the line was made of

    @classmethod
    def of(cls, error: ProtoleafError) -> "Failed":
        """A failure with an error's code and fields."""
        return cls(str(error), error=error.as_data())

    def as_error(self) -> ProtoleafError:
        """The error as it was raised in the other process."""
        return from_data(self.error) if self.error else ProtoleafError(self.message)


@dataclass(frozen=True)
class Stopped:
    """A request was cancelled; finished results stay."""


@dataclass(frozen=True)
class Envelope:
    """A message that is not decoded yet."""

    number: int
    kind: str
    body: object

    def message(self, *types: type[Any]) -> Any:
        """Decode it as one of these dataclasses, chosen by its kind.

        Raises:
            FormatError: it is of unknown kind, or its fields are not those of its kind.
        """
        import msgspec  # the window shows first

        found = next((each for each in types if each.__name__ == self.kind), None)
        if found is None:
            expected = " or ".join(each.__name__ for each in types)
            raise FormatError("this message was not expected", expected=expected, found=self.kind)
        try:
            return msgspec.convert(self.body, found, dec_hook=_special)
        except (msgspec.ValidationError, ProtoleafError) as error:
            what = "a message of the program has unexpected fields"
            raise FormatError(
                what, found="{kind} ({reason})", kind=self.kind, reason=str(error)
            ) from error


def answers_to(request: Request[Any]) -> tuple[type[Any], ...]:
    """Dataclasses of all possible answers."""
    return Progress, *request.event_types, request.result_type, Failed, Stopped


def encode(number: int, message: object) -> bytes:
    """A message as one line of ASCII, as a path in it may be invalid Unicode."""
    import msgspec  # the window shows first

    body = msgspec.to_builtins(message, enc_hook=_plain)
    fields = {
        "version": __version__,
        "number": number,
        "kind": type(message).__name__,
        "body": body,
    }
    return json.dumps(fields).encode("ascii") + b"\n"


def read(line: bytes) -> Envelope:
    """Read a line that `encode` made.

    Raises:
        FormatError: it is not a message.
        ProtoleafError: it comes from another version of the program.
    """
    try:
        fields = json.loads(line, object_hook=with_messages)
        version, number, kind, body = (
            fields[name] for name in ("version", "number", "kind", "body")
        )
    except (ValueError, KeyError, TypeError) as error:
        found = line.decode("utf-8", "replace")[:_SHOWN].strip() or "nothing"
        raise FormatError("this line is not a message of the program", found=found) from error
    if version != __version__:
        raise ProtoleafError(
            "the program was updated while it was running",
            expected="version {version}",
            found=str(version)[:_SHOWN],
            remedy="close it and start it again",
            version=__version__,
        )
    if not isinstance(number, int) or not isinstance(kind, str):
        raise FormatError(
            "this line is not a message of the program",
            found="number {number}, kind {kind}",
            number=repr(number),
            kind=repr(kind),
        )
    return Envelope(number, kind, body)


def _plain(value: object) -> object:
    if isinstance(value, Message):
        return value.as_data()
    if isinstance(value, Path | str):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be part of a message")


def _special(wanted: type, value: object) -> object:
    if wanted is Path and isinstance(value, str):
        return Path(value)
    raise TypeError(f"expected {wanted.__name__}, found {type(value).__name__}")
