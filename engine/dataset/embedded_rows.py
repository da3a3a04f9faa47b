"""Rows of a data set: one for each image, in Arrow's columns and as arrays of numpy."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import chain

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from engine.arrays import Flags, Integers
from engine.credentials import without_credentials
from engine.images.read_file import HASH_BYTES

UNUSABLE = "the embedding in the data set is not finite, is zero, or has no content hash"
EMBEDDED = "embedded"
"""The status of an image with an embedding; of others it is the error's code."""


@dataclass(frozen=True)
class EmbeddedRows:
    """Some images of a data set, n of them, each list in their order."""

    content_hashes: Sequence[bytes | None]  # as of projects; None of a file that could not be read
    # Path or address; of an image in an archive, the archive's with the image's name behind
    paths: Sequence[str]
    sizes_bytes: Sequence[int | None]  # of the file, None where it could not be read
    embeddings: NDArray[np.float16]  # (n, width); zeros where there is none
    has_embedding: Flags  # (n,)
    statuses: Sequence[str]  # `EMBEDDED`, or the code of what is wrong
    reasons: Sequence[str | None]  # what is wrong, in words

    def __len__(self) -> int:
        return len(self.paths)

    def take(self, places: Integers) -> "EmbeddedRows":
        """Those at some places (k,), in that order."""
        return EmbeddedRows(
            *(  # type: ignore[arg-type]  # by column, so mypy sees no one type
                column[places] if isinstance(column, np.ndarray) else [column[at] for at in places]
                for column in vars(self).values()
            )
        )


def joined(parts: Sequence[EmbeddedRows]) -> EmbeddedRows:
    """All rows of one or more parts, one part after the other."""
    columns = ([getattr(rows, field.name) for rows in parts] for field in fields(EmbeddedRows))
    return EmbeddedRows(
        *(  # type: ignore[arg-type]  # by column, so mypy sees no one type
            np.concatenate(column) if isinstance(column[0], np.ndarray) else [*chain(*column)]
            for column in columns
        )
    )


def schema_of(width: int) -> pa.Schema:
    """The columns of a data set with embeddings of a width."""
    return pa.schema(
        [
            pa.field("content_hash", pa.binary(HASH_BYTES)),
            pa.field("path", pa.string(), nullable=False),
            pa.field("size_bytes", pa.int64()),
            pa.field("embedding", pa.list_(pa.field("element", pa.float16()), width)),
            pa.field("status", pa.string(), nullable=False),
            pa.field("reason", pa.string()),
        ]
    )


def to_arrow(rows: EmbeddedRows) -> pa.RecordBatch:
    """Rows as Arrow's columns."""
    schema = schema_of(rows.embeddings.shape[1])
    values = pa.array(np.ascontiguousarray(rows.embeddings).ravel())
    kind = schema.field("embedding").type
    embeddings = pa.FixedSizeListArray.from_arrays(
        values, type=kind, mask=pa.array(~rows.has_embedding)
    )
    columns = [
        pa.array(rows.content_hashes, schema.field("content_hash").type),
        pa.array(list(map(without_credentials, rows.paths)), pa.string()),
        pa.array(rows.sizes_bytes, pa.int64()),
        embeddings,
        pa.array(rows.statuses, pa.string()),
        pa.array(rows.reasons, pa.string()),
    ]
    return pa.record_batch(columns, schema=schema)


def from_arrow(batch: pa.RecordBatch) -> EmbeddedRows:
    """Rows of Arrow's columns."""
    embeddings, has_embedding = embeddings_in(batch)
    hashes, reasons = batch.column("content_hash").to_pylist(), batch.column("reason").to_pylist()
    has_embedding &= np.array([each is not None for each in hashes], dtype=np.bool_)
    for place in np.flatnonzero(has_embedding_in(batch) & ~has_embedding).tolist():
        reasons[place] = UNUSABLE
    return EmbeddedRows(
        hashes,
        list(map(without_credentials, batch.column("path").to_pylist())),
        batch.column("size_bytes").to_pylist(),
        embeddings,
        has_embedding,
        batch.column("status").to_pylist(),
        reasons,
    )


def embeddings_in(batch: pa.RecordBatch) -> tuple[NDArray[np.float16], Flags]:
    """The embeddings (n, width) float16 of a record batch, zeros where missing; which exist (n,).

    What is not finite, or zero everywhere, is not an embedding.
    """
    column = batch.column("embedding")
    width = column.type.list_size
    values = column.values.slice(column.offset * width, len(column) * width)
    embeddings = (
        values.to_numpy(zero_copy_only=False).reshape(len(column), width).astype(np.float16)
    )
    is_usable = np.isfinite(embeddings).all(axis=1) & embeddings.any(axis=1)
    has_embedding = has_embedding_in(batch) & is_usable
    embeddings[~has_embedding] = 0
    return embeddings, has_embedding


def has_embedding_in(batch: pa.RecordBatch) -> Flags:
    """Which rows (n,) of Arrow's columns have an embedding."""
    return np.asarray(
        batch.column("embedding").is_valid().to_numpy(zero_copy_only=False), dtype=np.bool_
    )
