"""Messages between processes."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pytest

from engine.backbones.preprocessing import Preprocessing
from engine.embedding.messages import EmbedBatch, EmbedResult
from engine.errors import FormatError, ProtoleafError
from engine.events import Progress
from engine.runtime.devices.child import Speed, TryDevice
from engine.runtime.devices.reasons import Attempt
from engine.worker.protocol import Cancel, Failed, Request, Stopped, answers_to, encode, read


@dataclass(frozen=True)
class Answer:
    """A result with special values."""

    path: Path | None
    names: Mapping[str, float | None]
    batch: EmbedBatch


@dataclass(frozen=True)
class Question(Request[Answer]):
    """A request."""

    event_types = (Attempt,)

    folder: Path
    counts: tuple[int, ...] = ()


@pytest.mark.parametrize(
    "message",
    [
        Question(Path("/pictures/叶"), (1, 2)),
        Question(Path(os.fsdecode(b"/pictures/m\xf6we"))),
        Answer(None, {"accuracy": 0.1, "loss": None}, EmbedBatch(())),
        Answer(
            Path("x"),
            {},
            EmbedBatch(
                (EmbedResult(7, b"\x01\xff", None), EmbedResult(8, None, "kein Bild: 蓝.jpg"))
            ),
        ),
        Progress(1, 2, rate_per_s=3.5, seconds_left=0.1 + 0.2),
        Failed("no", "Traceback"),
        Stopped(),
        Cancel(),
    ],
)
def test_what_is_sent_arrives(message: object) -> None:
    """Exact, including paths of invalid Unicode; one line of ASCII."""
    line = encode(3, message)
    assert line.isascii()
    assert line.count(b"\n") == 1
    envelope = read(line)
    assert envelope.number == 3
    assert envelope.message(type(message)) == message


def test_a_request_knows_what_answers_it() -> None:
    """Result and events of a request; progress, failure and stop belong to each."""
    assert answers_to(Question(Path())) == (Progress, Attempt, Answer, Failed, Stopped)
    assert answers_to(TryDevice("cpu")) == (Progress, Attempt, Speed, Failed, Stopped)


def test_a_mapping_of_any_kind_is_sent() -> None:
    """A mapping is sent as if fields were given by name."""
    answer = Answer(None, MappingProxyType({"loss": 1.0}), EmbedBatch(()))
    assert read(encode(1, answer)).message(Answer).names == {"loss": 1.0}


@pytest.mark.parametrize(
    "line", [b"", b"hello", b"[1]", b"7", b'{"kind": "Stopped"}', b'{"version": 1}', b"\xff\xfe"]
)
def test_what_is_no_message_is_refused(line: bytes) -> None:
    """The error says what was found instead."""
    with pytest.raises(FormatError, match="not a message of the program"):
        read(line)


def test_a_message_that_was_not_expected_is_refused() -> None:
    """Both sides decode only expected types."""
    with pytest.raises(FormatError, match="expected Progress or Stopped, found Failed"):
        read(encode(1, Failed("x"))).message(Progress, Stopped)


@pytest.mark.parametrize("body", [{}, {"folder": 7}, {"folder": "x", "counts": ["one"]}, [], None])
def test_fields_of_another_kind_are_refused(body: object) -> None:
    """Missing fields and wrong types."""
    line = json.loads(encode(1, Question(Path())))
    with pytest.raises(FormatError, match="unexpected fields: found Question"):
        read(json.dumps({**line, "body": body}).encode()).message(Question)


def test_values_that_a_dataclass_refuses_are_refused() -> None:
    """The dataclass's own check is applied."""
    line = json.loads(encode(1, Preprocessing()))
    line["body"]["input_side"] = 3
    with pytest.raises(FormatError, match="8 to 1024 pixels"):
        read(json.dumps(line).encode()).message(Preprocessing)


def test_another_version_is_recognised() -> None:
    """A version mismatch after an update says what to do."""
    line = json.loads(encode(1, Stopped()))
    with pytest.raises(
        ProtoleafError, match=r"updated while it was running.*found 0\.0\.0\. Close it and start it"
    ):
        read(json.dumps({**line, "version": "0.0.0"}).encode())
