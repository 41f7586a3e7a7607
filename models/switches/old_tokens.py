"""Old tokens: texts of the former system's links that cannot be slugs, each leading to one link of the organization.

The statements that resolve a slug read this table themselves, in the same round trip.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import db


@dataclass(frozen=True, slots=True)
class OldToken:
    """A token in lower case, 1 to 190 characters, and the link to which it leads."""

    organization_id: UUID
    token: str
    link_id: UUID
    switch_id: UUID
    created_at: datetime


_NAMES = ("token", "link_id", "created_at")
_INSERT_ALL = """
insert into old_token (organization_id, switch_id, token, link_id, created_at)
select %s, %s, * from unnest(%s::text[], %s::uuid[], %s::timestamptz[]) on conflict do nothing
"""
_DELETE_ALL = "delete from old_token where organization_id = %s and switch_id = %s and token = any(%s)"
_DELETE_OF_LINKS = "delete from old_token where organization_id = %s and switch_id = %s and link_id = any(%s)"


def stage_insert_all(rows: Sequence[OldToken], *, organization_id: UUID, switch_id: UUID) -> None:
    """Stage the insert of old tokens. A token that leads to a link already keeps it, so a slice may be repeated."""
    if rows:
        ordered = sorted(rows, key=lambda row: row.token)
        arrays = [[getattr(row, name) for row in ordered] for name in _NAMES]
        db.stage(_INSERT_ALL, (organization_id, switch_id, *arrays))


def stage_delete_all(*, organization_id: UUID, switch_id: UUID, tokens: Sequence[str]) -> None:
    """Stage the deletion of those of these tokens that the switch brought."""
    db.stage(_DELETE_ALL, (organization_id, switch_id, list(tokens)))


def stage_delete_of_links(*, organization_id: UUID, switch_id: UUID, link_ids: Sequence[UUID]) -> None:
    """Stage the deletion of the tokens of these links that the switch brought."""
    db.stage(_DELETE_OF_LINKS, (organization_id, switch_id, list(link_ids)))
