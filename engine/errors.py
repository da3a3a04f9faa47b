"""Errors that are displayed to the user, in a tree by what can be done about them.

A message says what went wrong, what was expected, what was found and what to do, in one line. Each
of these is a constant template, whose values are fields (`ModelError("{path} is empty",
path=path)`), or a plain value. Anything that is not a `ProtoleafError` is a bug.
"""

import re
from collections.abc import Mapping
from typing import Any

from engine.credentials import without_credentials
from engine.texts import Message, in_english, marked

# characters; a message may quote a file, and a file may hold anything
LONGEST_MESSAGE = 2_000

_KEPT_END = 600
# By presence of expected, found and remedy: languages join these parts differently.
_JOINED = {
    (False, False, False): "{what}",
    (False, False, True): marked("{what}. {remedy:capital}"),
    (False, True, False): marked("{what}: {found}"),
    (False, True, True): marked("{what}: {found}. {remedy:capital}"),
    (True, False, False): marked("{what}: {expected}"),
    (True, False, True): marked("{what}: {expected}. {remedy:capital}"),
    (True, True, False): marked("{what}: {expected}, {found}"),
    (True, True, True): marked("{what}: {expected}, {found}. {remedy:capital}"),
}
_PARTS = ("what", "expected", "found", "remedy")


class ProtoleafError(Exception):
    """Base of all errors that are displayed as one line.

    Args:
        what: what went wrong, as a sentence without a full stop.
        expected: what would have been right.
        found: what was there instead.
        remedy: what the user can do.
        code: what a program knows the error by; made of `what` where none is given.
        fields: values of the places `{name}` in the four texts.
    """

    def __init__(
        self,
        what: str,
        *,
        expected: str = "",
        found: str = "",
        remedy: str = "",
        code: str = "",
        **fields: object,
    ) -> None:
        parts = (
            part if isinstance(part, Message) else Message(part, fields)
            for part in (what, expected, found, remedy)
        )
        self.what, self.expected, self.found, self.remedy = parts
        self.fields = self.what.fields
        self.code = code or code_of(self.what)
        super().__init__(self.what, self.expected, self.found, self.remedy)

    def __reduce__(self) -> tuple[Any, ...]:
        """Let an error come from a worker process: exceptions are rebuilt by position."""
        return _rebuilt, (type(self), self.args), self.__dict__

    def __str__(self) -> str:
        return _one_line(self.message)

    def translated(self) -> str:
        """The line in the language of the window; see `engine.texts.translate_with`."""
        return _one_line(self.message.translated())

    @property
    def message(self) -> Message:
        """The line, to be translated later."""
        facts = {
            "expected": Message("expected {expected}", {"expected": self.expected})
            if self.expected
            else "",
            "found": Message("found {found}", {"found": self.found}) if self.found else "",
        }
        template = _JOINED[bool(self.expected), bool(self.found), bool(self.remedy)]
        return Message(template, {"what": self.what, **facts, "remedy": self.remedy})

    def as_data(self) -> dict[str, Any]:
        """Kind, code and texts, for another process."""
        texts = {part: getattr(self, part) for part in _PARTS}
        return {"kind": type(self).__name__, "code": self.code, "texts": texts}


def from_data(data: Mapping[str, Any]) -> ProtoleafError:
    """The error that `as_data` described."""
    kinds = [ProtoleafError]
    for kind in kinds:  # grows while it is walked
        kinds += kind.__subclasses__()
    kind = next((kind for kind in kinds if kind.__name__ == data["kind"]), ProtoleafError)
    error = kind.__new__(kind)
    ProtoleafError.__init__(error, code=data["code"], **data["texts"])
    return error


def reason_of(error: Exception) -> Message:
    """The message of an error, translatable; of an `OSError`, without its number and path."""
    if isinstance(error, ProtoleafError):
        return in_english(str(error), error.message)
    of_system = isinstance(error, OSError) and error.strerror
    reason = of_system or next(iter(error.args), "")
    return reason if isinstance(reason, Message) else Message(of_system or str(error))


def found_at(place: object, error: Exception) -> Message:
    """A file, and what stood against reading it: `birds.csv: Permission denied`."""
    return Message("{name}: {reason}", {"name": str(place), "reason": reason_of(error)})


def code_of(text: str) -> str:
    """The code of a message: `cannot-be-read` for `{path} cannot be read`."""
    while isinstance(text, Message) and isinstance(what := text.fields.get("what"), Message):
        text = what
    template = text.template if isinstance(text, Message) else text
    return "-".join(re.findall(r"[a-z0-9]+", re.sub(r"{.*?}", "", template).lower()))


def _one_line(message: str) -> str:
    """A message on one line of readable length."""
    message = without_credentials(" ".join(message.split()))
    if len(message) <= LONGEST_MESSAGE:
        return message
    return f"{message[: LONGEST_MESSAGE - _KEPT_END]} [...] {message[-_KEPT_END:]}"


def _rebuilt(kind: type[ProtoleafError], arguments: tuple[Any, ...]) -> ProtoleafError:
    return kind.__new__(kind, *arguments)


class InputError(ProtoleafError):
    """Input of the user cannot be used."""


class UsageError(InputError):
    """A command was called in a way it does not have (exit status 2)."""


class GraphError(InputError):
    """An edit or import would break the category graph."""


class CycleError(GraphError):
    """An edge would make a class its own ancestor; `path` are the names that would close."""

    def __init__(self, path: tuple[str, ...]) -> None:
        self.path = path
        super().__init__(
            "this would make a class its own ancestor",
            found=" > ".join(path),
            remedy="link it elsewhere, or remove one of these edges first",
        )


class DuplicateNameError(GraphError):
    """Two classes under one parent would have the same name."""


class UnknownClassError(GraphError):
    """No class has this name or path."""


class AmbiguousClassError(GraphError):
    """A name fits several classes; a path is needed."""


class FormatError(InputError):
    """A file does not hold what its format promises."""


class TakenError(InputError):
    """The name of a new file is taken by another kind of file, which `found` names."""


class ImageError(InputError):
    """One image cannot be read."""


class ImageUnreachableError(ImageError):
    """The disk does not give an image's file: nothing speaks against it holding what it held."""


class ImageMissingError(ImageUnreachableError):
    """An image file is missing: moved, renamed, deleted, or its disk or share is disconnected."""


class ProjectError(ProtoleafError):
    """The project file cannot be used as requested."""


class ProjectExistsError(ProjectError):
    """A file is already there."""


class ProjectMissingError(ProjectError):
    """No project file is there."""


class ProjectLockedError(ProjectError):
    """Another process has the project open for writing."""


class ProjectTooNewError(ProjectError):
    """The project was written by a newer version of the program."""


class ProjectDamagedError(ProjectError):
    """The file is not a project or fails its integrity check."""


class ProjectMovedError(ProjectError):
    """The file was moved, replaced or modified by others while it was open."""


class ProjectReadOnlyError(ProjectError):
    """A change of a read-only project was requested."""


class ModelError(ProtoleafError):
    """A backbone or propagation file cannot be used."""


class StorageError(ProtoleafError):
    """The disk or folder refuses: full, missing, or without permission."""


class NetworkError(ProtoleafError):
    """A download failed: no connection, a refusal by the server, or an unexpected file."""


class Cancelled(ProtoleafError):  # noqa: N818 (no error)
    """The user stopped the job; finished results stay."""

    def __init__(self) -> None:
        super().__init__("stopped", remedy="run it again to resume from here")
