"""The bundled backbones: the choices of a new project, and conversion of those from weights."""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from engine.backbones.model_files import (
    CONVERTED,
    WHOLE,
    WORDS,
    bundled_card,
    bundled_path,
    converted_path,
    default_backbone,
    folder_of,
)
from engine.config import BACKBONE_VARIABLE
from engine.errors import ModelError
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.full_disk import writing
from engine.model_card import BackboneCard, file_hash
from engine.new_file import flush_folder, private_folder, write_file
from engine.new_folder import scratch_folder
from engine.texts import Message
from engine.training.needed_packages import check_packages
from engine.worker.client import Done, run_in_child
from engine.worker.protocol import Failed, Request

TIMES_THE_WORK = "times_the_work"
"""Figure of a card: time for an image relative to the fast backbone, measured elsewhere."""
LONGEST_S = 600.0  # a conversion takes some seconds; a child that takes this long is ended
_POLL_S = 0.5  # between two looks for a cancel while another program converts


class BackboneChoice(StrEnum):
    """The options of a new project."""

    ACCURATE = "accurate"
    FAST = "fast"


@dataclass(frozen=True)
class OfferedBackbone:
    """A bundled backbone offered for a new project."""

    choice: BackboneChoice
    name: str  # by which the engine finds it
    card: BackboneCard  # known before its file exists
    file: Path | None  # the network; None until it was converted on this computer
    preparation: Request[Any] | None = None  # that converts it; None where nothing has to be done
    times_the_work: float = 1.0  # of the fast one, for one image; 0 where unknown

    @property
    def is_ready(self) -> bool:
        return self.file is not None


def offered_backbones() -> tuple[OfferedBackbone, ...]:
    """The bundled backbones available on this computer, the accurate one first."""
    return tuple(_offered(choice) for choice in BackboneChoice if _can_be_had(WORDS[choice]))


def choice_of(name: str) -> str:
    """The option that a bundled backbone is offered as; "" for any other."""
    return next((word for word, each in WORDS.items() if each == name), "")


def preparation_of(name: str) -> Request[Any] | None:
    """The request that converts a bundled backbone; None where it exists, or cannot be made."""
    is_due = name in CONVERTED and bundled_path(name) is None and _can_be_had(name)
    return _conversion(name) if is_due else None


def _conversion(name: str) -> Request[Any]:
    from engine.backbones.messages import ConvertBackbone

    return ConvertBackbone(name)


def is_chosen_elsewhere() -> bool:
    """Whether `PROTOLEAF_BACKBONE` decides what new projects get: then nothing is offered."""
    return bool(os.environ.get(BACKBONE_VARIABLE))


def chosen_among(offered: Sequence[OfferedBackbone], choice: str) -> OfferedBackbone:
    """The one that a person chose before, or the program's default where it is not offered."""
    found = next((one for one in offered if one.choice == choice), None)
    return found or next((one for one in offered if one.name == default_backbone()), offered[0])


def _offered(choice: BackboneChoice) -> OfferedBackbone:
    name = WORDS[choice]
    card, file = bundled_card(name), bundled_path(name)
    times = 1.0 if choice is BackboneChoice.FAST else card.figures.get(TIMES_THE_WORK, 0.0)
    return OfferedBackbone(choice, name, card, file, preparation_of(name), times)


def _can_be_had(name: str) -> bool:
    if bundled_path(name) is not None:
        return True
    source = CONVERTED[name]
    try:
        return find_spec("torch") is not None and version(source.package) == source.version
    except PackageNotFoundError:
        return False


def convert_kept(
    name: str, *, on_progress: OnProgress = ignore_progress, cancel: CancelToken | None = None
) -> Path:
    """Convert a bundled backbone, or find it converted; a damaged one is replaced. Loads torch.

    Raises:
        ModelError: the weights are missing, or a file differs from the network; nothing is stored.
        StorageError: the disk refuses; nothing is stored.
        Cancelled: stopped by the person.
    """
    from engine.backbones.convert import convert

    source, cancel = CONVERTED[name], cancel or CancelToken()
    target = folder_of(source)
    lock = FileLock(target.with_name(f"{source.key}.lock"))
    with writing(
        target.parent, "the backbone cannot be saved", "free some disk space; nothing was saved"
    ):
        private_folder(target.parent)
        _wait_for(lock, cancel)
        try:
            if (found := converted_path(name)) is not None:  # another program was quicker
                return found
            with scratch_folder(target.parent) as scratch:
                unfinished = private_folder(scratch / "new")
                convert(source, unfinished, on_progress=on_progress, cancel=cancel)
                hashes = {path.name: file_hash(path) for path in sorted(unfinished.iterdir())}
                write_file(unfinished / WHOLE, json.dumps(hashes, indent=2))
                if target.exists():  # damaged
                    target.rename(scratch / "damaged")
                unfinished.rename(target)
                flush_folder(target.parent)
        finally:
            lock.release()
    return target / source.model.name


def at_hand(name: str) -> Path:
    """The network's file of a bundled backbone, made by a child process the first time.

    Raises:
        ModelError: what the child found wrong, that it could not work, or torch is not installed.
    """
    if (found := converted_path(name)) is not None:
        return found
    check_packages(("torch",), Message("preparing {name} requires", {"name": name}))
    what = Message("{name} cannot be prepared", {"name": name})
    try:
        ending = run_in_child(_conversion(name), limit_s=LONGEST_S)
    except OSError as error:
        raise ModelError(what, found="no process can be started: {reason}", reason=error) from error
    if isinstance(ending, Failed) and ending.message:
        failure = ending.as_error()
        raise (
            failure if isinstance(failure, ModelError) else ModelError(ending.message)
        ) from failure
    found = converted_path(name)
    if not isinstance(ending, Done) or found is None:
        raise ModelError(what, found=type(ending).__name__, remedy="check the log, then try again")
    return found


def _wait_for(lock: FileLock, cancel: CancelToken) -> None:
    while True:
        cancel.raise_if_cancelled()
        with suppress(Timeout):
            lock.acquire(timeout=_POLL_S)
            return
