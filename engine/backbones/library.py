"""The backbones that a person added, each in a folder of its own below the user's data folder.

It holds `<name>.onnx`, its card, and its own propagation where it was trained. A folder gets its
name when it is whole.
"""

import mmap
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import final

from engine.backbones.model_files import (
    WORDS,
    ModelFiles,
    bundled_backbones,
    model_files,
    own_propagation,
)
from engine.backbones.preprocessing import stamp_of
from engine.config import backbones_folder
from engine.errors import InputError, ModelError
from engine.files import open_regular
from engine.full_disk import writing
from engine.model_card import BackboneCard, card_path, file_hash, read_card, write_card
from engine.new_file import create_file, flush_folder, open_own, private_folder
from engine.new_folder import scratch_folder
from engine.texts import enumerated

LONGEST_NAME = 64
_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{LONGEST_NAME - 1}}}(?<!\.)")
_DEVICES = frozenset(
    {
        "con",
        "prn",
        "aux",
        "nul",
        *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10)),
    }
)
"""Device names on Windows, with any suffix."""


@final
class BackboneLibrary:
    """The added backbones in one folder.

    Args:
        folder: need not be there; by default the user's.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or backbones_folder()

    def names(self) -> tuple[str, ...]:
        """Names of the added backbones, sorted."""
        try:
            folders = sorted(self.folder.iterdir())
        except OSError:
            return ()
        return tuple(
            folder.name for folder in folders if _NAME.fullmatch(folder.name) and _is_whole(folder)
        )

    def path(self, name: str) -> Path:
        return self.folder / name / f"{name}.onnx"

    def entry(self, name: str) -> ModelFiles:
        """Files of one added backbone.

        Raises:
            ModelError: there is none of this name, or its files cannot be read.
        """
        self._check_there(name)
        return replace(model_files(self.path(name)), name=name)

    def add(
        self, onnx_path: Path, card: BackboneCard, *, propagation: Path | None = None
    ) -> ModelFiles:
        """Copy a backbone to the library under its card's name, atomically; an equal one stays.

        The card's preprocessing is written into the copy, so that the same network with another one
        has another hash, and embeddings of the two are never mixed. External data is inlined.

        Raises:
            InputError: the name cannot be used, or another backbone has it.
            ModelError: the file is missing, or is not a valid ONNX file.
            StorageError: the folder refuses; nothing of the backbone is stored.
        """
        check_name(card.name)
        if not onnx_path.is_file():
            raise ModelError("the model file is not there", expected=str(onnx_path))
        remedy = "free some disk space; nothing was saved"
        with (
            writing(self.folder, "the backbone cannot be saved", remedy),
            scratch_folder(self.folder) as scratch,
        ):
            unfinished = private_folder(scratch / card.name)
            _fill(unfinished, onnx_path, card, propagation)
            self._settle(unfinished, card.name)
        return model_files(self.path(card.name))

    def remove(self, name: str) -> None:
        """Delete an added backbone; projects that use it cannot embed new images afterwards.

        Raises:
            InputError: it is bundled.
            ModelError: there is none of this name.
            StorageError: its files cannot be removed.
        """
        if name in bundled_backbones():
            raise InputError("a bundled backbone cannot be removed", found=name)
        self._check_there(name)  # a damaged one can be removed, too
        remedy = (
            "check that the folder may be written to and that no other program uses the backbone"
        )
        with writing(self.folder / name, "the backbone cannot be removed", remedy):
            self._discard(self.folder / name)

    def _check_there(self, name: str) -> None:
        if name not in (names := self.names()):
            raise ModelError(
                "there is no such backbone in the library",
                expected=enumerated(names),
                found=f"“{name}”",
                remedy="" if names else "no backbone was added yet",
            )

    def _settle(self, unfinished: Path, name: str) -> None:
        """Give a whole backbone its name; another program may do the same at this moment."""
        target = self.folder / name
        if target.is_dir() and not _is_whole(target):
            self._discard(
                target
            )  # files were taken out of it: it is not listed, and could not be removed
        try:
            if not target.exists():
                unfinished.rename(target)
                flush_folder(self.folder)
                return
        except OSError:
            if not target.exists():
                raise
        if not _is_same(target, unfinished):
            raise InputError(
                "another backbone has this name already",
                found=name,
                remedy="choose another name, or remove that one first",
            )

    def _discard(self, folder: Path) -> None:
        # Removed first: the rest without it is not a backbone
        with scratch_folder(self.folder) as scratch:
            folder.rename(scratch / "removed")


def check_name(name: str) -> None:
    """Refuse a name that cannot be a folder on every system, or that a bundled backbone has.

    Raises:
        InputError: with what a name may look like.
    """
    if not _NAME.fullmatch(name) or _is_device(name):
        raise InputError(
            "this cannot be a backbone's name",
            expected=(
                "1 to {limit} letters, digits, dots, dashes and underscores, a letter or digit "
                "first"
            ),
            found=f"“{name}”",
            limit=LONGEST_NAME,
        )
    if _is_taken(name):
        raise InputError(
            "a bundled backbone has this name", found=name, remedy="choose another name"
        )


def usable_name(text: str) -> str:
    """Make a valid backbone name from any text; other characters become dashes."""
    name = (
        re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")[:LONGEST_NAME].rstrip(".") or "backbone"
    )
    return f"own-{name}"[:LONGEST_NAME] if _is_device(name) or _is_taken(name) else name


def _is_taken(name: str) -> bool:
    return name.lower() in (*bundled_backbones(), *WORDS)


def _is_device(name: str) -> bool:
    return name.partition(".")[0].lower() in _DEVICES


def _is_whole(folder: Path) -> bool:
    network = folder / f"{folder.name}.onnx"
    try:
        return network.is_file() and card_path(network).is_file()
    except OSError:  # a folder that cannot be read holds no backbone
        return False


def _fill(folder: Path, onnx_path: Path, card: BackboneCard, propagation: Path | None) -> None:
    network = folder / f"{card.name}.onnx"
    _copy_network(onnx_path, network, stamp_of(card))
    if propagation is not None:
        _copy(propagation, own_propagation(network))
    write_card(network, card)
    for path in folder.iterdir():
        with path.open("rb+") as file:
            os.fsync(file.fileno())


def _copy_network(source: Path, target: Path, stamp: bytes) -> None:
    """Copy a network as one file, with the stamp at its end, once."""
    from engine.backbones.onnx_structure import write_inlined

    if _may_have_external_data(source):
        with create_file(target) as file:
            write_inlined(source, file)
    else:
        _copy(source, target)
    with open_regular(target) as file:
        file.seek(max(0, target.stat().st_size - len(stamp)))
        is_stamped = file.read() == stamp
    if not is_stamped:
        with open_own(target, "ab") as file:
            file.write(stamp)


def _may_have_external_data(path: Path) -> bool:
    """Whether the key of external data occurs in the file, without parsing gigabytes."""
    if not path.stat().st_size:
        return True  # refused with its reason
    with (
        open_regular(path) as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        return content.find(b"location") >= 0


def _copy(source: Path, target: Path) -> None:
    with open_regular(source) as reading, create_file(target) as written:
        shutil.copyfileobj(reading, written, 1 << 20)


def _is_same(there: Path, coming: Path) -> bool:
    """Whether two folders contain the same backbone; measured figures on the card may differ."""
    if _hashes(there) != _hashes(coming):
        return False
    network = f"{there.name}.onnx"
    try:
        known = read_card(there / network)
    except ModelError:
        return False
    return replace(known, figures={}) == replace(read_card(coming / network), figures={})


def _hashes(folder: Path) -> dict[str, str]:
    return {path.name: file_hash(path) for path in folder.glob("*.onnx")}
