"""Old tokens: texts of the former system's links that cannot be slugs, each leading to one link of the organization.

The statements that resolve a slug read this table themselves, in the same round trip.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.table import Table


@dataclass(frozen=True, slots=True)
class OldToken:
    """A token in lower case, 1 to 190 characters, and the link to which it leads."""

    organization_id: UUID
    token: str
    link_id: UUID
    switch_id: UUID
    created_at: datetime


_NAMES = ("token", "link_id", "created_at")
_TABLE = Table("old_token", OldToken, key=("organization_id", "token"))
_INSERT_ALL = """
insert into old_token (organization_id, switch_id, token, link_id, created_at)
select %s, %s, * from unnest(%s::text[], %s::uuid[], %s::timestamptz[]) on conflict do nothing
"""
_DELETE_ALL = "delete from old_token where organization_id = %s and switch_id = %s and token = any(%s)"
_DELETE_OF_LINKS = "delete from old_token where organization_id = %s and switch_id = %s and link_id = any(%s)"
_OWNERS = """
select t.token, a.email
from old_token t
join tracking_link l on l.organization_id = t.organization_id and l.id = t.link_id and l.deleted_at is null
join affiliate a on a.organization_id = l.organization_id and a.id = l.affiliate_id
where t.organization_id = %s and t.token = any(%s)
"""


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


def find_owners(*, organization_id: UUID, tokens: Sequence[str]) -> dict[str, set[str]]:
    """Return the email of the affiliate whose link each token leads to, by token in lower case.

    Unknown tokens and those of deleted links are left out. The result is in the form of `tracking_links.find_owners`.
    """
    return {token: {email} for token, email in db.run(_OWNERS, (organization_id, list(tokens)))}


def find(*, organization_id: UUID, token: str) -> OldToken | None:
    """Return an old token of the organization, in lower case."""
    sql = f"select {_TABLE.columns} from old_token where organization_id = %s and token = %s"
    return _TABLE.first(sql, (organization_id, token))
