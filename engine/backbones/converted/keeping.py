"""Makes converted backbones once, whole or not at all; one that is damaged is made anew."""

import json
import shutil
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from engine.backbones.converted.facts import CONVERTED, WHOLE, converted_path, folder_of
from engine.backbones.messages import ConvertBackbone
from engine.errors import ModelError
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.full_disk import storage_error
from engine.model_card import file_hash
from engine.new_file import flush_folder, private_folder, write_file
from engine.texts import Message
from engine.worker.client import Done, run
from engine.worker.protocol import Failed

LONGEST_S: Final = 600.0
"""A conversion takes some seconds; a child that takes this long is ended."""
_UNFINISHED: Final = ".unfinished-"
_LOOK_S: Final = 0.5  # how often somebody who waits for another program looks whether to stop


def convert_kept(name: str, *, on_progress: OnProgress = ignore_progress, cancel: CancelToken | None = None) -> Path:
    """Make a bundled backbone's files and keep them, or find them made. Loads torch.

    Raises:
        ModelError: the weights are not there, or a file does not do what the network does; nothing is kept.
        StorageError: the disk refuses; nothing is kept.
        Cancelled: stopped by the person.
    """
    from engine.backbones.converted.convert import convert

    source, cancel = CONVERTED[name], cancel or CancelToken()
    target = folder_of(source)
    unfinished = target.with_name(f"{_UNFINISHED}{uuid.uuid4().hex}")
    lock = FileLock(target.with_name(f"{source.key}.lock"))
    try:
        private_folder(target.parent)
        _wait_for(lock, cancel)
        try:
            if (found := converted_path(name)) is not None:  # another program was quicker
                return found
            _clear(target.parent)
            private_folder(unfinished)
            convert(source, unfinished, on_progress=on_progress, cancel=cancel)
            _settle(unfinished, target)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
            lock.release()
    except OSError as error:
        remedy = "free some disk space; nothing was kept"
        raise storage_error(target.parent, error, "the backbone cannot be kept", remedy) from error
    return target / source.model.name


def at_hand(name: str) -> Path:
    """The network's file of a bundled backbone, made by a child process the first time.

    Raises:
        ModelError: what the child found wrong, or that it could not work.
    """
    if (found := converted_path(name)) is not None:
        return found
    try:
        ending = run(ConvertBackbone(name), limit_s=LONGEST_S)
    except OSError as error:
        raise ModelError(_what(name), found="no process can be started: {reason}", reason=error) from error
    if isinstance(ending, Failed) and ending.message:
        failure = ending.as_error()
        raise failure if isinstance(failure, ModelError) else ModelError(ending.message) from failure
    found = converted_path(name)
    if not isinstance(ending, Done) or found is None:
        raise ModelError(_what(name), found=type(ending).__name__, remedy="look into the log, then try again")
    return found


def _what(name: str) -> Message:
    return Message("{name} cannot be prepared", {"name": name})


def _wait_for(lock: FileLock, cancel: CancelToken) -> None:
    while True:
        cancel.raise_if_cancelled()
        with suppress(Timeout):
            lock.acquire(timeout=_LOOK_S)
            return


def _settle(unfinished: Path, target: Path) -> None:
    hashes = {path.name: file_hash(path) for path in sorted(unfinished.iterdir())}
    write_file(unfinished / WHOLE, json.dumps(hashes, indent=2))
    if target.exists():  # damaged
        target.rename(target.with_name(f"{_UNFINISHED}{uuid.uuid4().hex}"))
    unfinished.rename(target)
    flush_folder(target.parent)
    _clear(target.parent)


def _clear(folder: Path) -> None:
    """Take away what a killed program left; whoever calls this holds the lock."""
    for left in folder.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(left, ignore_errors=True)
