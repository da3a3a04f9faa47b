"""What is checked of a data set before a project trusts it: its backbone, the files that it names, its embeddings."""

import os
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from engine.collection.embed import open_cache
from engine.collection.importing.match_images import NO_FILE, PermittedImages
from engine.collection.models import ModelFiles, all_models
from engine.config import CacheFolders
from engine.dataset.embedded_rows import EmbeddedRows
from engine.dataset.opened import DataSet
from engine.embedding.messages import EmbedRequest
from engine.embedding.pipeline import embed_files
from engine.embedding.views import unit_length
from engine.errors import FormatError, ModelError, found_at
from engine.events import CancelToken
from engine.images.read_file import file_hashes
from engine.model_card import file_hash
from engine.project import Project
from engine.runtime.backbone import BackboneSession
from engine.runtime.providers import choose_providers
from engine.texts import Message

SAMPLE: Final = 16  # embeddings that are computed here too: a second of work
LEAST_COSINE: Final = 0.9
"""Of an embedding with the one computed here. Kinds of arithmetic differ by 0.02; see decision 72."""
MOST_SHOWN: Final = 5
LONGEST_PATH: Final = 4096  # bytes
_REMEDY: Final = "ask whoever made it, or embed its sources again"


def backbone_of(data_set: DataSet) -> str:
    """What a new project takes for the backbone of a data set: one that is here, else the data set's own file.

    Raises:
        ModelError: the file beside the manifest is not the one that the manifest names.
    """
    wanted, path = data_set.manifest.backbone_hash, data_set.backbone
    try:
        found = file_hash(path)
    except FileNotFoundError:
        found = wanted
    except OSError as error:
        raise ModelError(
            "the backbone of the data set cannot be read", found=found_at(path, error)
        ) from error
    if found != wanted:
        raise ModelError(
            "the backbone beside the data set is not the one that made its embeddings",
            expected=wanted[:12],
            found="{hash} in {path}",
            remedy=_REMEDY,
            hash=found[:12],
            path=path,
        )
    of_unknown_form = (
        not data_set.manifest.identity
    )  # as before decision 95; the sample shows whether they agree
    for model in all_models():
        is_of_form = of_unknown_form or model.embedding_identity == data_set.manifest.identity
        if model.backbone_hash == wanted and is_of_form:
            return model.name
    return str(path)


def check_width(data_set: DataSet, model: ModelFiles) -> None:
    """Raise `ModelError` where the embeddings have another width than those of their backbone."""
    width = data_set.manifest.card.embedding_width
    if width != model.card.embedding_width:
        raise ModelError(
            "the embeddings of the data set are not those of its backbone",
            expected="{expected_width} values each",
            found="{found_width} in {folder}",
            remedy=_REMEDY,
            expected_width=model.card.embedding_width,
            found_width=width,
            folder=data_set.folder,
        )


@final
class PermittedRows:
    """Rows of a data set whose files may become images: as lists of labels, it could name any file of this computer.

    A file lies where `PermittedImages` says, or below the project's folder; or its content is the one that the row
    names, which whoever made the data set has therefore read. What is not there has no content to pass on.
    """

    def __init__(self, project: Project, folder: Path, further: Sequence[Path] = ()) -> None:
        self.refused = 0
        self.reasons: list[str] = []  # the first ones, each with its file
        self._permitted = PermittedImages(project, folder, (project.path.parent, *further))

    def of(self, rows: EmbeddedRows) -> EmbeddedRows:
        """Those of some rows."""
        permitted = []
        for place, path in enumerate(rows.paths):
            if reason := self._refusal(path, rows.content_hashes[place]):
                self.refused += 1
                self.reasons += [Message("{path}: {reason}", {"path": path, "reason": reason})][
                    : MOST_SHOWN - len(self.reasons)
                ]
            else:
                permitted.append(place)
        return (
            rows if len(permitted) == len(rows) else rows.take(np.array(permitted, dtype=np.int64))
        )

    def _refusal(self, text: str, content_hash: bytes | None) -> str:
        if not text or "\0" in text or len(os.fsencode(text)) > LONGEST_PATH:
            return NO_FILE
        path = Path(os.path.abspath(text))  # noqa: PTH100 (as it is stored)
        if not os.path.lexists(path):
            return ""
        reason = self._permitted.refusal(path)
        return "" if reason and _has_content(path, content_hash) else reason


def _has_content(path: Path, content_hash: bytes | None) -> bool:
    try:
        return content_hash is not None and content_hash in file_hashes(path)
    except OSError:
        return False


@final
class EmbeddingSample:
    """Some embeddings of a data set whose images can be read here, to be compared with what is computed here."""

    def __init__(self, model: ModelFiles, caches: CacheFolders) -> None:
        self.count = 0  # how many were compared
        self._model, self._caches = model, caches
        self._chance, self._seen = Random(0), 0
        self._drawn: list[tuple[Path, bytes, NDArray[np.float16]]] = []

    def offer(self, rows: EmbeddedRows) -> None:
        """Draw from some more images, all with the same probability."""
        for number in np.flatnonzero(rows.has_embedding).tolist():
            path, content_hash = Path(rows.paths[number]), rows.content_hashes[number]
            if content_hash is None or not path.is_file():
                continue
            self._seen += 1
            place = (
                len(self._drawn)
                if len(self._drawn) < SAMPLE
                else self._chance.randrange(self._seen)
            )
            if place < SAMPLE:
                self._drawn[place : place + 1] = [(path, content_hash, rows.embeddings[number])]

    def check(self, cancel: CancelToken) -> None:
        """Embed the drawn images here, and compare.

        Raises:
            FormatError: an embedding is another one.
            Cancelled: `cancel` was set.
        """
        if not self._drawn:
            return
        paths, hashes, embeddings = zip(*self._drawn, strict=True)
        session = BackboneSession(self._model.backbone, self._model.card, choose_providers("cpu"))
        requests = [EmbedRequest(place, path, None) for place, path in enumerate(paths)]
        with open_cache(self._model, self._caches) as cache:
            embed_files(requests, session, cache, cancel=cancel)
            computed, is_computed = cache.get_many(hashes)
        theirs = unit_length(np.stack(embeddings)[is_computed].astype(np.float32))
        cosines = (theirs * unit_length(computed[is_computed].astype(np.float32))).sum(axis=1)
        self.count = len(cosines)
        if np.any(cosines < LEAST_COSINE):
            place = np.flatnonzero(is_computed)[cosines.argmin()]
            raise FormatError(
                "the embeddings of the data set are not those of its images",
                expected="what the same backbone computes here, cosine {least} or more",
                found="cosine {cosine} at {path}, and {others} of {compared} others",
                remedy=_REMEDY,
                least=LEAST_COSINE,
                cosine=f"{cosines.min():.2f}",
                path=paths[place],
                others=int((cosines < LEAST_COSINE).sum()) - 1,
                compared=self.count - 1,
            )
