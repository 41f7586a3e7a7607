"""Invitations to the team of an organization. Of a token only the SHA-256 is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.table import Rows, Table, columns


@dataclass(frozen=True, slots=True)
class MemberInvite:
    """An invitation; it is deleted when it is accepted or revoked."""

    id: UUID
    organization_id: UUID
    email: str
    role: str
    token_hash: bytes
    invited_by: UUID
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class ListedInvite:
    """An invitation with the organization and the email of the member who invited."""

    id: UUID
    organization_id: UUID
    organization_name: str
    email: str
    role: str
    invited_by_email: str
    created_at: datetime
    expires_at: datetime


_TABLE = Table("member_invite", MemberInvite)
_LISTED = Rows(ListedInvite)
_SELECT = f"""
select {columns(ListedInvite, "i", organization_name="o.name", invited_by_email="m.email")}
from member_invite i join organization o on o.id = i.organization_id
join member m on m.organization_id = i.organization_id and m.id = i.invited_by
"""
_LIST = f"{_SELECT} where i.organization_id = %s order by i.created_at desc, i.id desc"
_FIND = f"{_SELECT} where i.organization_id = %s and i.id = %s"
_BY_TOKEN = f"{_SELECT} where i.token_hash = %s and i.expires_at > %s"
_BY_EMAIL = f"{_SELECT} where i.email = %s and i.expires_at > %s order by i.created_at desc, i.id desc"


def insert_once(values: Mapping[str, object]) -> bool:
    """Insert an invitation; return False if this email is invited already."""
    return _TABLE.insert(values, conflict="organization_id, email")


def list_invites(organization_id: UUID) -> list[ListedInvite]:
    """Return an organization's invitations, expired ones too, newest first."""
    return _LISTED.all(_LIST, (organization_id,))


def find(*, organization_id: UUID, invite_id: UUID) -> ListedInvite | None:
    """Return one invitation of an organization."""
    return _LISTED.first(_FIND, (organization_id, invite_id))


def any_org_find_by_token(token_hash: bytes, *, now: datetime) -> ListedInvite | None:
    """Return the unexpired invitation of a link."""
    return _LISTED.first(_BY_TOKEN, (token_hash, now))


def any_org_list_by_email(email: str, *, now: datetime) -> list[ListedInvite]:
    """Return the unexpired invitations of a person, newest first."""
    return _LISTED.all(_BY_EMAIL, (email, now))


def count(organization_id: UUID) -> int:
    """Return how many invitations an organization has."""
    row = db.row("select count(*) from member_invite where organization_id = %s", (organization_id,))
    assert row is not None
    return int(row[0])


_LOCK = f"select {_TABLE.columns} from member_invite where organization_id = %s and id = %s for update"


def lock(*, organization_id: UUID, invite_id: UUID) -> MemberInvite | None:
    """Return one invitation of an organization, locked until the transaction ends."""
    return _TABLE.first(_LOCK, (organization_id, invite_id))


_RENEW = """
update member_invite set token_hash = %s, expires_at = %s where organization_id = %s and id = %s
"""


def stage_renewal(invite: MemberInvite, *, token_hash: bytes, expires_at: datetime) -> None:
    """Stage another token and expiry of a locked invitation; its former link becomes invalid."""
    db.stage(_RENEW, (token_hash, expires_at, invite.organization_id, invite.id))


def stage_delete(*, organization_id: UUID, invite_id: UUID) -> None:
    """Stage the deletion of an invitation."""
    db.stage("delete from member_invite where organization_id = %s and id = %s", (organization_id, invite_id))


def stage_delete_by_email(*, organization_id: UUID, email: str) -> None:
    """Stage the deletion of a person's invitation."""
    db.stage("delete from member_invite where organization_id = %s and email = %s", (organization_id, email))


_DELETE_BY_INVITER = """
delete from member_invite where organization_id = %s and invited_by = %s and role = any(%s::text[])
"""


def stage_delete_by_inviter(*, organization_id: UUID, member_id: UUID, roles: Sequence[str]) -> None:
    """Stage the deletion of the invitations with these roles that a member sent."""
    db.stage(_DELETE_BY_INVITER, (organization_id, member_id, list(roles)))
