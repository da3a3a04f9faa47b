"""Audits: unlabelled images drawn at random, with their predictions at that time (decision 105).

Answers are ordinary labels of these images; an audit stores none. More images are drawn than are
in the first sample, so that a growing audit is one sample of one population.
"""

from collections.abc import Sequence
from dataclasses import astuple
from typing import final

from engine.errors import InputError
from engine.project.actions import action
from engine.project.change import Change
from engine.project.clock import now_text, person_name, time_of, time_text
from engine.project.connection import Connection, Row
from engine.project.records import Audit, AuditItem, ClassId
from engine.project.schema import AUDIT, AUDIT_ITEM
from engine.project.step import OpenStep
from engine.project.store import ProjectPart

_ITEMS = AUDIT_ITEM.select_all


@final
class ProjectAudits(ProjectPart):
    """The audits of a project."""

    def all(self) -> tuple[Audit, ...]:
        """All audits with their images, oldest first."""
        items: dict[int, list[AuditItem]] = {}
        for audit_id, *rest in self._connection.rows(f"{_ITEMS} ORDER BY place"):
            items.setdefault(audit_id, []).append(AuditItem(*rest))
        rows = self._connection.rows(f"{AUDIT.select_all} ORDER BY drawn_at, audit_id")
        return tuple(_audit(row, items.get(row[0], [])) for row in rows)

    def add(
        self,
        items: Sequence[AuditItem],
        size: int,
        *,
        population: int,
        is_stratified: bool = False,
        who: str = "",
    ) -> Change:
        """Add an audit of images that were drawn.

        Args:
            items: one for each place from 0 on.
            size: number of images in the sample.
            population: images among which they were drawn.
            who: the annotator; by default the current user.
        """
        drawn = now_text(), who or person_name(), int(is_stratified), population, size
        with self._store.one_step(who=who) as step:
            _insert(step, drawn, items)
            step.action = action("audit_drawn", images=min(size, len(items)))
        return step.change

    def add_missing(self, audits: Sequence[Audit]) -> Change:
        """Adopt audits of another copy, with names and times; existing ones grow to their size."""
        with self._store.one_step() as step:
            known = {(audit.drawn_at, audit.who): audit for audit in self.all()}
            for audit in audits:
                same = known.get((audit.drawn_at, audit.who))
                if same is not None:
                    self.grow(same.audit_id, audit.size)
                    continue
                signed = time_text(audit.drawn_at), audit.who
                _insert(
                    step,
                    (*signed, int(audit.is_stratified), audit.population, audit.size),
                    audit.items,
                )
        return step.change

    def grow(self, audit_id: int, size: int) -> Change:
        """Ask about more images of an audit: the next ones that were drawn.

        Raises:
            InputError: there is no such audit.
        """
        row = self._connection.row(AUDIT.select, (audit_id,))
        if row is None:
            raise InputError("there is no such audit in the project", found=str(audit_id))
        new_size = max(row[-1], size)
        count = "SELECT COUNT(*) FROM audit_item WHERE audit_id = ? AND place >= ? AND place < ?"
        with self._store.one_step() as step:
            more = int(step.connection.value(count, (audit_id, row[-1], new_size)))
            step.put(AUDIT, [(*row[:-1], new_size)])
            step.action = action("audit_grown", images=more)
        return step.change


def claimed_classes(connection: Connection) -> set[ClassId]:
    """Classes that the program claimed of an image of an audit."""
    rows = connection.rows(
        "SELECT class_id FROM audit_item UNION SELECT safe_class_id FROM audit_item"
    )
    return {class_id for (class_id,) in rows if class_id is not None}


def move_claims(step: OpenStep, class_id: ClassId, heir_id: ClassId | None) -> None:
    """Move what was predicted as a class to its heir, as its labels; unchanged without an heir."""
    if heir_id is None:
        return
    rows = step.connection.rows(f"{_ITEMS} WHERE class_id = ?1 OR safe_class_id = ?1", (class_id,))
    heir = {class_id: heir_id}
    moved = [
        (*row[:3], heir.get(row[3], row[3]), row[4], heir.get(row[5], row[5]), *row[6:])
        for row in rows
    ]
    step.put(AUDIT_ITEM, moved)


def _insert(step: OpenStep, drawn: Row, items: Sequence[AuditItem]) -> None:
    audit_id = int(step.connection.value("SELECT coalesce(max(audit_id), 0) FROM audit")) + 1
    step.insert(AUDIT, [(audit_id, *drawn)])
    step.insert(AUDIT_ITEM, [(audit_id, *astuple(item)) for item in items])


def _audit(row: Row, items: Sequence[AuditItem]) -> Audit:
    audit_id, drawn_at, who, is_stratified, population, size = row
    return Audit(audit_id, time_of(drawn_at), who, bool(is_stratified), population, size, items)
