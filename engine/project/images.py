"""The images of a project, and what the machine found out about each file."""

import json
import os
import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import final

from engine.errors import InputError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.file_parts import file_part
from engine.files import FoundFile
from engine.project.actions import Action, action, added
from engine.project.backups.keeping import MANY
from engine.project.backups.place import BackupReason
from engine.project.change import Change
from engine.project.clock import now_text, person_name
from engine.project.connection import Row
from engine.project.graph_rows import class_name
from engine.project.image_rows import (
    id_of,
    insert_new,
    label_new,
    move_images,
    no_such_image,
    plain_ids,
    remove_lists,
    store_facts,
    within_pictures,
)
from engine.project.image_table import whole_table
from engine.project.packed import PackedHashes, PackedTexts, RareTexts, unpacked_text
from engine.project.records import (
    BoxOrigin,
    ClassId,
    ImageContent,
    ImageId,
    ImageRecord,
    ImageTable,
    NewItem,
)
from engine.project.schema import CONFIRMED_LABEL, IMAGE, IMAGE_NOTE, LABEL
from engine.project.store import ProjectPart, shown_path

_PATHS_AT_ONCE = 1000
_CHANGED_AT_ONCE = 4096  # images that are in memory at once when many are added or moved
_COLUMNS = """SELECT image_id, path, coalesce(changed.size_bytes, image.size_bytes),
    coalesce(changed.modified_ns, image.modified_ns), content_hash, failure, part
    FROM image LEFT JOIN image_fact USING (image_id)
    LEFT JOIN image_change AS changed USING (image_id)"""


_CONTENTS_BY_FILE = """WITH some AS (
        SELECT image_id, path FROM image WHERE image_id > ? ORDER BY image_id LIMIT ?)
    SELECT some.image_id, item.image_id, item.path, part, content_hash
    FROM some CROSS JOIN image AS item USING (path)
    LEFT JOIN image_fact ON image_fact.image_id = item.image_id
    WHERE NOT EXISTS (SELECT 1 FROM image AS earlier
        WHERE earlier.path = some.path AND earlier.image_id < some.image_id)
    ORDER BY some.image_id, item.image_id"""
"""Images of files whose first image is among some, with that one's id."""


@final
class ProjectImages(ProjectPart):
    """The images that a project knows; no file of one is ever touched."""

    @property
    def count(self) -> int:
        """Number of images."""
        return int(self._connection.value("SELECT COUNT(*) FROM image"))

    def records(self) -> Sequence[ImageRecord]:
        """All images in ascending id order."""
        return [_record(row) for row in self._connection.rows(f"{_COLUMNS} ORDER BY image_id")]

    def record(self, image_id: ImageId) -> ImageRecord:
        """One image; raises `InputError` where it is not in the project."""
        row = self._connection.row(f"{_COLUMNS} WHERE image_id = ?", (int(image_id),))
        if row is None:
            raise no_such_image(image_id)
        return _record(row)

    def table(self, image_ids: Sequence[ImageId] | None = None) -> ImageTable:
        """All images, or existing ones of these ids, as columns: the fast way to read many."""
        if image_ids is None and (whole := whole_table(self._connection)) is not None:
            return whole
        which = "" if image_ids is None else " WHERE image_id IN (SELECT value FROM json_each(?))"
        values = (
            () if image_ids is None else (json.dumps([int(image_id) for image_id in image_ids]),)
        )
        ids, sizes, modified = array("q"), array("q"), array("q")
        paths, hashes, failures, parts = PackedTexts(), PackedHashes(), RareTexts(), PackedTexts()
        for (
            image_id,
            path,
            size_bytes,
            modified_ns,
            content_hash,
            failure,
            part,
        ) in self._connection.each(f"{_COLUMNS}{which} ORDER BY image_id", values):
            ids.append(image_id)
            paths.append(shown_path(path))
            sizes.append(size_bytes)
            modified.append(modified_ns)
            hashes.append(content_hash)
            failures.append(unpacked_text(failure))
            parts.append(part)
        return ImageTable(ids, paths, sizes, modified, hashes, failures, parts)

    def files(self) -> ImageTable:
        """One image of each file, its first."""
        every = self.table()
        if not every.has_parts:
            return every
        first: dict[str, ImageId] = {}
        for place, path in enumerate(every.paths):
            first.setdefault(path, every.ids[place])
        return self.table(list(first.values()))

    def detections(self) -> dict[ImageId, BoxOrigin]:
        """What detectors found, by image."""
        rows = self._connection.rows(
            "SELECT image_id, category, detection_score FROM image"
            " WHERE category <> '' OR detection_score IS NOT NULL ORDER BY image_id"
        )
        return {image_id: BoxOrigin(category, score) for image_id, category, score in rows}

    def parts_of(self, path: Path | str) -> dict[ImageId, str]:
        """The images that a file has, in ascending id order, each with its part of the file."""
        stored = self._store.paths.stored(Path(path))
        return dict(
            self._connection.rows(
                "SELECT image_id, part FROM image WHERE path = ? ORDER BY image_id", (stored,)
            )
        )

    def each_content(self) -> Iterator[ImageContent]:
        """The images, few in memory at once: in ascending id order, but those of one file together.

        The project may change meanwhile.
        """
        last: ImageId = 0
        while some := self._connection.rows(_CONTENTS_BY_FILE, (last, _PATHS_AT_ONCE)):
            yield from (
                ImageContent(each, shown_path(path), *rest) for _, each, path, *rest in some
            )
            last = some[-1][0]

    def each_path(self) -> Iterator[tuple[ImageId, str]]:
        """Id and path of each image, as `each_content`."""
        return ((each.image_id, each.path) for each in self.each_content())

    def each_file(self) -> Iterator[Path]:
        """The file of each image on this computer, once; as `each_content`."""
        paths = (path for path, _ in groupby(path for _, path in self.each_path()))
        return map(self._store.paths.absolute, paths)

    def find(self, path: Path | str, part: str | None = None) -> ImageId | None:
        """Id of the image at a path, absolute or relative to the working folder, or None.

        Args:
            part: of the file; by default the whole of it, or else its first part.
        """
        return id_of(self._connection, self._store.paths.stored(Path(path)), part)

    def alike(self, size_bytes: int, name: str) -> Iterator[Path]:
        """Paths of images with this size when last read, or with this file name."""
        escaped = re.sub(r"([\\%_])", r"\\\1", name)
        pattern = os.fsencode(f"%{escaped}").decode(errors="replace")
        for condition, value in (
            ("size_bytes = ?", size_bytes),
            ("path LIKE ? ESCAPE '\\'", pattern),
        ):
            for (path,) in self._connection.rows(
                f"SELECT path FROM image WHERE {condition}",  # noqa: S608
                (value,),
            ):
                yield self._store.paths.absolute(shown_path(path))

    def resolve(self, record: ImageRecord) -> Path:
        """Where an image's file is on this computer."""
        return self._store.paths.absolute(record.path)

    def add(self, files: Sequence[FoundFile | NewItem]) -> Change:
        """Add images, which get ids in this order; known ones are skipped.

        A `FoundFile` is one image as a whole.
        """
        return self.add_labelled(files, [None] * len(files))

    def add_labelled(
        self,
        files: Sequence[FoundFile | NewItem],
        class_ids: Sequence[ClassId | None],
        *,
        who: str = "",
        source: str = "import",
        called: Action | None = None,
        on_progress: OnProgress = ignore_progress,
        cancel: CancelToken | None = None,
    ) -> Change:
        """Add images with their labels, if any, as one action; before many labels a backup is made.

        An existing label is never overwritten: a known image gets one only if it has none.

        Args:
            class_ids: of each image its class, or a code as in `ProjectLabels.set`; None adds it
                without a label.
            who: the annotator; by default the current user.
            source: see `Label`.
            called: the action; by default it names the counts.
            cancel: stops between some thousands of images; none is added.

        Raises:
            UnknownClassError: there is no such class.
            Cancelled: stopped.
        """
        given = {class_id for class_id in class_ids if class_id is not None and class_id >= 0}
        names = {class_id: class_name(self._connection, class_id) for class_id in given}
        backup = BackupReason.IMPORT if len(class_ids) - class_ids.count(None) > MANY else None
        new_ids: list[ImageId] = []
        labelled: dict[ImageId, ClassId] = {}
        entries, cancel = zip(files, class_ids, strict=True), cancel or CancelToken()
        with self._store.one_step(who=who, backup=backup) as step:
            ending = who or person_name(), now_text(), source
            meter = ProgressMeter(len(files), on_progress)
            while some := list(islice(entries, _CHANGED_AT_ONCE)):
                cancel.raise_if_cancelled()
                image_ids = insert_new(step, [file for file, _ in some], self._store.paths, new_ids)
                labelled |= label_new(
                    step, zip(image_ids, (class_id for _, class_id in some), strict=True), ending
                )
                meter.advance(len(some))
            step.action = called or _added(new_ids, labelled, names)
        return step.change

    def add_parts(
        self,
        image_id: ImageId,
        parts: Sequence[str],
        class_ids: Sequence[ClassId | None] | None = None,
    ) -> Change:
        """Add further parts of an image's file as images, boxes in its picture for instance.

        Args:
            parts: see `engine.file_parts`; known ones are skipped.
            class_ids: as in `add_labelled`.

        Raises:
            InputError: the image is not in the project, or a text names no part.
        """
        record = self.record(image_id)
        file = FoundFile(self.resolve(record), record.size_bytes, record.modified_ns)
        items = [NewItem(file, file_part(part).text) for part in parts]
        code = "boxes_added" if all(file_part(part).box for part in parts) else "things_added"
        argument = {"boxes": len(parts)} if code == "boxes_added" else {"things": len(parts)}
        return self.add_labelled(
            items,
            class_ids or [None] * len(parts),
            source="review",
            called=action(code, **argument),
        )

    def change_part(self, image_id: ImageId, part: str) -> Change:
        """Let an image be another part of its file, as when a box is moved; its label stays.

        Raises:
            InputError: the image is unknown, the text names no part, or another image has that
                part.
        """
        text = file_part(part).text
        with self._store.one_step(action("box_changed")) as step:
            row = step.connection.row(IMAGE.select, (image_id,))
            if row is None:
                raise no_such_image(image_id)
            holder = id_of(step.connection, row[1], text)
            if holder not in {None, image_id}:
                raise InputError(
                    "there is the same box already", remedy="use that one, or remove it first"
                )
            step.put(IMAGE, [(*row[:4], text, *row[5:])])
        return step.change

    def remove(self, image_ids: Iterable[ImageId]) -> Change:
        """Take images, their labels and notes out of the project; the files stay where they are.

        With the picture that boxes are in, these go, too.
        """
        ids = plain_ids(image_ids)
        keys = [
            (image_id,)
            for image_id in dict.fromkeys([*ids, *within_pictures(self._connection, ids)])
        ]
        with self._store.one_step(
            backup=BackupReason.REMOVAL if len(keys) > MANY else None
        ) as step:
            for table in (LABEL, IMAGE_NOTE, CONFIRMED_LABEL):
                step.delete(table, keys)
            remove_lists(step, [image_id for (image_id,) in keys])
            step.action = action("images_removed", images=len(step.delete(IMAGE, keys)))
        return step.change

    def relink(
        self, moves: Iterable[tuple[ImageId, FoundFile]], *, strangers: Iterable[ImageId] = ()
    ) -> Change:
        """Set where images are now; their ids, labels, facts and predictions stay.

        All images of a file move together. A removed one is skipped, and so is a file whose new
        place belongs to another image.

        Args:
            moves: image id, one of each file, and the file that is its own.
            strangers: images added when moved files were taken for new ones; one without a label or
                note is removed for the image whose file it holds.
        """
        found, moves, leaving = 0, iter(moves), set(strangers)
        with self._store.one_step() as step:
            while some := list(islice(moves, _CHANGED_AT_ONCE)):
                found += move_images(step, some, leaving, self._store.paths)
            step.action = action("images_found", moved_images=found)
        return step.change

    def record_scan(
        self, results: Iterable[tuple[ImageId, bytes | str | None, str | None]]
    ) -> None:
        """Store facts of the machine, which undo leaves; see `store_facts`."""
        facts = list(results)
        for connection in self._store.fact_connections:
            store_facts(connection, facts)


def _added(
    new_ids: Collection[ImageId], labels: Mapping[ImageId, ClassId], names: Mapping[ClassId, str]
) -> Action:
    fits = (
        len(labels) == len(new_ids)
        and labels.keys() == set(new_ids)
        and names.keys() >= set(labels.values())
    )
    return added(
        len(new_ids), len(labels), [names[each] for each in set(labels.values())] if fits else ()
    )


def _record(row: Row) -> ImageRecord:
    image_id, path, size_bytes, modified_ns, content_hash, failure, part = row
    return ImageRecord(
        image_id,
        shown_path(path),
        size_bytes,
        modified_ns,
        content_hash.hex() if content_hash else None,
        unpacked_text(failure),
        part,
    )
