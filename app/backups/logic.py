"""Backups under headings: the project's own, those of its copies, and those of which nobody can say whose they are."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from engine.project.backups.listing import Backup, Offer, owner_of


@dataclass(frozen=True)
class Group:
    """Backups that belong together."""

    rows: Sequence[Backup]
    # the file that they were made of; None for the project's own, and where it is not known
    taken_of: Path | None = None
    is_of_copy: bool = False  # whether that is a copy of the project
    is_doubtful: bool = False  # whether they may be of another project
    is_of_this_path: bool = (
        False  # whether they were made of what was at the damaged project's path
    )


def own_groups(rows: Iterable[Backup]) -> list[Group]:
    """The backups of a project: its own without a heading, then copy by copy."""
    parted = groupby(rows, key=lambda row: row.taken_of if row.is_of_copy else None)
    return [Group(tuple(group), path, is_of_copy=path is not None) for path, group in parted]


def offered_groups(offer: Offer, project: Path) -> list[Group]:
    """What a damaged project can be restored from; those of other projects only where it may be one of them."""
    if offer.project_id is not None:
        return own_groups(offer.own)
    return [_doubtful(tuple(rows), project) for _, rows in groupby(offer.others, key=owner_of)]


def first_sure(offer: Offer) -> Backup | None:
    """The newest sound backup of a damaged project of which nobody has to ask whether it is its own."""
    return next((row for row in offer.own if not row.fault and not row.is_of_copy), None)


def _doubtful(rows: Sequence[Backup], project: Path) -> Group:
    paths = [row.taken_of for row in rows if row.taken_of is not None]
    here = next((path for path in paths if path == Path(os.path.realpath(project))), None)
    taken_of = here or (paths[0] if paths else None)
    return Group(rows, taken_of, is_doubtful=True, is_of_this_path=here is not None)
