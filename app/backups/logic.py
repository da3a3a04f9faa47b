"""Groups of backups: of the project itself, of its copies, and of unidentified projects."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from engine.project.backups.listing import Backup, Offer, owner_of


@dataclass(frozen=True)
class Group:
    """Backups under one heading."""

    rows: Sequence[Backup]
    # Original file; None for the project's own backups, or if unknown.
    taken_of: Path | None = None
    is_of_copy: bool = False  # of a copy of the project
    is_doubtful: bool = False  # possibly of another project
    is_of_this_path: bool = False  # made of a file at the damaged project's path


def own_groups(rows: Iterable[Backup]) -> list[Group]:
    """Group the backups of a project: its own without a heading, then by copy."""
    parted = groupby(rows, key=lambda row: row.taken_of if row.is_of_copy else None)
    return [Group(tuple(group), path, is_of_copy=path is not None) for path, group in parted]


def offered_groups(offer: Offer, project: Path) -> list[Group]:
    """Groups to restore a damaged project from; other projects only if it cannot be identified."""
    if offer.project_id is not None:
        return own_groups(offer.own)
    return [_doubtful(tuple(rows), project) for _, rows in groupby(offer.others, key=owner_of)]


def first_sure(offer: Offer) -> Backup | None:
    """Newest valid backup that is certainly of the damaged project."""
    return next((row for row in offer.own if not row.fault and not row.is_of_copy), None)


def _doubtful(rows: Sequence[Backup], project: Path) -> Group:
    paths = [row.taken_of for row in rows if row.taken_of is not None]
    here = next((path for path in paths if path == Path(os.path.realpath(project))), None)
    taken_of = here or (paths[0] if paths else None)
    return Group(rows, taken_of, is_doubtful=True, is_of_this_path=here is not None)
