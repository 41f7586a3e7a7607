"""Embed tokens: a brand's own site shows an affiliate their data with one. Each affiliate has at most one."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from models.db import db
from models.listing import Position
from models.prepared_statements import PreparedStatement
from models.table import Rows, Table, columns


@dataclass(frozen=True, slots=True)
class EmbedToken:
    """A token. Only the bearer value of its current `generation` is accepted."""

    id: UUID
    organization_id: UUID
    affiliate_id: UUID
    generation: int
    allowed_origins: tuple[str, ...]
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None

    def is_live(self, now: datetime) -> bool:
        """Return whether it is accepted at this time."""
        return self.revoked_at is None and now < self.expires_at


_TABLE = Table("embed_token", EmbedToken)
#: Insert a token and return it; None when its affiliate has one.
insert = _TABLE.insert_returning
#: Change columns of a locked token and return it as it is now.
change = _TABLE.update_locked
_LOCK = f"select {_TABLE.columns} from embed_token where organization_id = %s and affiliate_id = %s for no key update"
_REVOKE = f"""
update embed_token set revoked_at = %s where organization_id = %s and id = %s and revoked_at is null
returning {_TABLE.columns}
"""


def lock(*, organization_id: UUID, affiliate_id: UUID) -> EmbedToken | None:
    """Return an affiliate's token, live or not, locked until the transaction ends."""
    return _TABLE.first(_LOCK, (organization_id, affiliate_id))


def revoke(*, organization_id: UUID, token_id: UUID, at: datetime) -> EmbedToken | None:
    """Revoke a token and return it; None when the organization has no such unrevoked token."""
    return _TABLE.first(_REVOKE, (at, organization_id, token_id))


class ListedToken(NamedTuple):
    """A token in a list, with its affiliate; ids as text. Contains no secret."""

    id: str
    affiliate_id: str
    affiliate_name: str
    affiliate_email: str
    allowed_origins: list[str]
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None


_AFFILIATE_COLUMNS = {"affiliate_name": "a.full_name", "affiliate_email": "a.email"}
_LISTED = Rows(ListedToken)
_PAGE = PreparedStatement(f"""
select {columns(ListedToken, "e", id="e.id::text", affiliate_id="e.affiliate_id::text", **_AFFILIATE_COLUMNS)}
from embed_token e join affiliate a on a.organization_id = e.organization_id and a.id = e.affiliate_id
where e.organization_id = %(org)s and e.revoked_at is null and a.deleted_at is null
  and (%(affiliate)s::uuid is null or e.affiliate_id = %(affiliate)s::uuid)
  and (%(before)s::timestamptz is null or (e.created_at, e.id) < (%(before)s, %(before_id)s::uuid))
order by e.created_at desc, e.id desc limit %(limit)s
""")


def page(*, organization_id: UUID, affiliate_id: UUID | None, after: Position | None, limit: int) -> list[ListedToken]:
    """Return up to `limit` unrevoked tokens, newest first, after a position. Budget: 1 statement."""
    before, before_id = after or (None, None)
    params = {"org": organization_id, "affiliate": affiliate_id, "before": before, "before_id": before_id}
    return _LISTED.all(_PAGE, params | {"limit": limit})


@dataclass(frozen=True, slots=True)
class TokenHolder:
    """The affiliate that a token (`id`) authenticates, with the plan of their organization."""

    id: UUID
    organization_id: UUID
    affiliate_id: UUID
    generation: int
    status: str
    plan_tier: str
    subscription_status: str
    trial_ends_at: datetime | None
    expires_at: datetime
    last_used_at: datetime | None


_HOLDERS = Rows(TokenHolder)
_OF_ORGANIZATION = {name: f"o.{name}" for name in ("plan_tier", "subscription_status", "trial_ends_at")}
_HOLDER_COLUMNS = columns(TokenHolder, "e", status="a.status", **_OF_ORGANIZATION)
_ANY_ORG_HOLDER = f"""
select {_HOLDER_COLUMNS}
from embed_token e
join affiliate a on a.organization_id = e.organization_id and a.id = e.affiliate_id and a.deleted_at is null
join organization o on o.id = e.organization_id
where e.id = %s and e.revoked_at is null
"""


def any_org_find_holder(token_id: UUID) -> TokenHolder | None:
    """Return a token's affiliate; None if the token is revoked or the affiliate deleted. Budget: 1 statement."""
    return _HOLDERS.first(_ANY_ORG_HOLDER, (token_id,))


def stage_last_used(*, organization_id: UUID, token_id: UUID, at: datetime) -> None:
    """Stage the time of a token's last use."""
    db.stage(
        "update embed_token set last_used_at = %s where organization_id = %s and id = %s",
        (at, organization_id, token_id),
    )


_ANY_ORG_EXPIRE = f"""
update embed_token set expires_at = least(expires_at, %s) where id = %s and revoked_at is null
returning {_TABLE.columns}
"""


def any_org_expire(token_id: UUID, *, at: datetime) -> EmbedToken | None:
    """Expire a token and return it; None when there is no such token. For the operator."""
    return _TABLE.first(_ANY_ORG_EXPIRE, (at, token_id))


_ANY_ORG_FRAME_ORIGINS = """
select e.allowed_origins from embed_token e
join affiliate a on a.organization_id = e.organization_id and a.id = e.affiliate_id and a.deleted_at is null
where e.id = %s and e.revoked_at is null and e.expires_at > %s and a.status = 'Approved'
"""


def any_org_find_frame_origins(token_id: UUID, *, now: datetime) -> tuple[str, ...]:
    """Return the origins that may frame the page of a live token; empty for any other. Budget: 1 statement."""
    row = db.row(_ANY_ORG_FRAME_ORIGINS, (token_id, now))
    return tuple(row[0]) if row else ()
