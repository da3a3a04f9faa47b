"""Find replaced images: files that have another picture than the one that was labelled.

A label belongs to the picture that was seen (decision 110). Changed metadata, or the same picture
saved again, resized or recompressed, is not another picture: that is decided by perceptual hashes,
embeddings, and the times of shots if cameras wrote them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from engine.arrays import Floats
from engine.embedding.cache import EmbeddingCache
from engine.embedding.messages import EmbedBatch, EmbedResult
from engine.embedding.views import unit_length
from engine.file_parts import part_content, picture_part
from engine.images.files_on_disk import written_files
from engine.project import ImageId, Project
from engine.project.clock import now_text
from engine.project.records import FileChange

# Hamming distance of one picture: saved again at most 4, others 16 and more (decision 110)
MOST_BITS = 8
LEAST_COSINE = 0.5  # of the embeddings of one picture, whose colours may have changed
SURE_COSINE = 0.98  # the same if a hash is useless, as of a plain picture, or unknown
# cosine from which another time is changed metadata, such as a corrected clock
SAME_PIXELS = 0.9999


@dataclass(frozen=True)
class _Read:
    """An image whose file was read."""

    result: EmbedResult
    known: FileChange  # facts about its file, with its current size and time
    is_noted: bool  # whether the project has, or needs, an entry of the file
    is_outdated: bool  # whether its label is outdated
    is_resized: bool  # whether the size of the file has changed
    content: bytes | None  # content hash of the file when it was read before
    part: str  # of the file

    @property
    def reference(self) -> bytes | None:
        """Content of the labelled picture, or of the previous one."""
        is_open = self.is_outdated or self.known.found_at is None
        return (self.known.seen_hash if is_open else None) or self.content

    @property
    def is_other_content(self) -> bool:
        return (
            self.result.failure is None
            and self.reference is not None
            and self.reference != self.result.content_hash
        )

    def change(self, found_at: str, *, is_same: bool) -> FileChange:
        """The new entry of the file."""
        size_and_time = self.known.image_id, self.known.size_bytes, self.known.modified_ns
        if (
            self.result.failure is not None
        ):  # the next picture is compared with the last one that could be seen
            is_gone = self.result.content_hash not in (None, self.reference)
            return FileChange(
                *size_and_time,
                self.reference if is_gone else self.known.seen_hash,
                self.known.found_at,
            )
        if (
            self.reference is None
        ):  # labelled before it was read; the size is all that is known of that picture
            return FileChange(
                *size_and_time, None, found_at if self.is_resized else self.known.found_at
            )
        if is_same:
            is_settled = self.known.found_at is not None and not self.is_outdated
            return self.known if is_settled else FileChange(*size_and_time)
        return (
            self.known if self.is_outdated else FileChange(*size_and_time, self.reference, found_at)
        )


def record_embedded(
    project: Project, cache: EmbeddingCache, batch: EmbedBatch
) -> tuple[ImageId, ...]:
    """Store results of embedding, and find replaced images.

    The project must still have the previous details of these files.

    Args:
        cache: of the backbone that embedded them.

    Returns:
        The images that became another picture, or the labelled one again.
    """
    read = list(_read(project, cache, batch.results))
    others = [each for each in read if each.is_other_content]
    same = _same_pictures(project, cache, others, batch) if others else frozenset()
    changes, concerned = [], []
    found_at = now_text()
    for each in read:
        image_id = each.known.image_id
        change = each.change(found_at, is_same=not each.is_other_content or image_id in same)
        if each.is_noted or (change.seen_hash, change.found_at) != (None, None):
            changes.append(change)
        if change.found_at != each.known.found_at:
            concerned.append(image_id)
    project.images.record_scan(batch.results)
    project.file_changes.record(changes)
    return tuple(concerned)


def _read(
    project: Project, cache: EmbeddingCache, results: Sequence[EmbedResult]
) -> Iterator[_Read]:
    by_id = {result.image_id: result for result in results}
    table = project.images.table(list(by_id))
    noted, outdated = project.file_changes.of(table.ids), project.labels.outdated()
    files = cache.files_at([project.path.parent / path for path in table.paths])
    for place, (image_id, last_read) in enumerate(zip(table.ids, files, strict=True)):
        size_bytes, modified_ns = table.sizes_bytes[place], table.modified_ns[place]
        result = by_id[image_id]
        is_now = last_read is not None and last_read[2] == result.content_hash
        file = last_read if last_read is not None and is_now else (size_bytes, modified_ns, b"")
        entry = noted.get(image_id)
        seen = (None, None) if entry is None else (entry.seen_hash, entry.found_at)
        yield _Read(
            result,
            FileChange(image_id, *file[:2], *seen),
            entry is not None or file[:2] != (size_bytes, modified_ns),
            image_id in outdated,
            file[0] != size_bytes,
            table.content_hashes[place],
            table.parts[place],
        )


def _same_pictures(
    project: Project, cache: EmbeddingCache, read: Sequence[_Read], batch: EmbedBatch
) -> frozenset[ImageId]:
    """Those of some images whose changed content is the same picture."""
    before = [part_content(each.reference or b"", each.part) for each in read]
    now = [part_content(each.result.content_hash or b"", each.part) for each in read]
    cosines = np.einsum("nd,nd->n", _embeddings(cache, before), _embeddings(cache, now)).tolist()
    pictures_before = [
        part_content(each.reference or b"", picture_part(each.part)) for each in read
    ]
    pictures_now = [
        part_content(each.result.content_hash or b"", picture_part(each.part)) for each in read
    ]
    bits = cache.picture_hashes([*pictures_before, *pictures_now])
    times = {file.image_id: file.details.taken_at for file in batch.details}
    return frozenset(
        each.known.image_id
        for each, old, new, cosine in zip(read, pictures_before, pictures_now, cosines, strict=True)
        if cosine >= SAME_PIXELS
        or (
            _may_be_one_shot(project, each.known.image_id, times)
            and _are_alike(bits.get(old), bits.get(new), cosine)
        )
    )


def _are_alike(bits: int | None, others: int | None, cosine: float) -> bool:
    """Whether two pictures are the same by perceptual hashes and cosine."""
    if not bits or not others:
        return cosine >= SURE_COSINE
    return (bits ^ others).bit_count() <= MOST_BITS and cosine >= LEAST_COSINE


def _embeddings(cache: EmbeddingCache, contents: Sequence[bytes]) -> Floats:
    """(n, d) of length 1; zeros for contents that are not cached."""
    vectors, is_found = cache.get_many(contents)
    found = unit_length(vectors.astype(np.float32))
    found[~is_found] = 0
    return found


def _may_be_one_shot(
    project: Project, image_id: ImageId, times: Mapping[ImageId, datetime | None]
) -> bool:
    """Whether the times of the camera allow one photo."""
    before, now = project.details.as_read(image_id), times.get(image_id)
    return before is None or before.taken_at is None or now is None or before.taken_at == now


def modified_labelled_images(project: Project) -> list[str]:
    """Paths of labelled images whose files were written to since they were read."""
    table = project.images.table(project.labels.table().image_ids)
    read = [place for place, content in enumerate(table.content_hashes) if content is not None]
    paths = [table.paths[place] for place in read]
    sizes_bytes, modified_ns = (
        [column[place] for place in read] for column in (table.sizes_bytes, table.modified_ns)
    )
    found = written_files(project.path.parent, paths, sizes_bytes, modified_ns)
    return [paths[place] for place in found]
