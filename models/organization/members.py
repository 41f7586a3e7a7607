"""Members of organizations. Every API key belongs to one; a member's keys share one rate-limit bucket."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.notifications.readers import READER_JOIN, UNREAD_COUNT
from models.table import Rows, Table, columns


@dataclass(frozen=True, slots=True)
class Member:
    """A member; `subject` is their id at the identity provider, None before they signed in."""

    id: UUID
    organization_id: UUID
    email: str
    is_email_verified: bool
    role: str
    subject: str | None
    created_at: datetime
    seen_at: datetime


_TABLE = Table("member", Member)
#: Insert a member; False when a concurrent request inserted them.
insert = _TABLE.insert


_FIND = f"""
select {_TABLE.columns} from member
where organization_id = %(org)s and case when %(email)s is null then role = 'Owner' else email = %(email)s end
order by created_at, id limit 1
"""


def find(*, organization_id: UUID, email: str | None) -> Member | None:
    """Return the member with this email; with None the organization's first Owner."""
    return _TABLE.first(_FIND, {"org": organization_id, "email": email})


_LIST = f"""
select {_TABLE.columns} from member where organization_id = %s
order by array_position(array['Owner', 'Admin', 'Manager', 'Viewer'], role), email, id limit %s
"""


def list_members(*, organization_id: UUID, limit: int) -> list[Member]:
    """Return an organization's members, the highest role first."""
    return _TABLE.all(_LIST, (organization_id, limit))


_BY_ID = f"select {_TABLE.columns} from member where organization_id = %s and id = %s"


def find_by_id(*, organization_id: UUID, member_id: UUID) -> Member | None:
    """Return one member of an organization."""
    return _TABLE.first(_BY_ID, (organization_id, member_id))


_OWNERS = """
select email from member where organization_id = %s and role = 'Owner' and email <> '' order by created_at, id
"""


def list_owner_emails(organization_id: UUID) -> list[str]:
    """Return the email addresses of the organization's Owners, oldest member first."""
    return list(dict.fromkeys(email for (email,) in db.run(_OWNERS, (organization_id,))))


_CLAIM = """
update member set subject = %s, role = %s, is_email_verified = true
where organization_id = %s and email = %s and subject is null returning id
"""


def claim(*, organization_id: UUID, email: str, subject: str, role: str) -> bool:
    """Link the member created with an email to the person who signed in with it and proved it.

    Returns False without such a member.
    """
    return bool(db.run(_CLAIM, (subject, role, organization_id, email)))


def stage_change(*, organization_id: UUID, member_id: UUID, role: str, email: str, is_email_verified: bool) -> None:
    """Stage the role and email of a member that the identity provider reports now."""
    db.stage(
        "update member set role = %s, email = %s, is_email_verified = %s where organization_id = %s and id = %s",
        (role, email, is_email_verified, organization_id, member_id),
    )


def stage_seen(*, organization_id: UUID, member_id: UUID, at: datetime) -> None:
    """Stage the time at which a member was last seen."""
    db.stage("update member set seen_at = %s where organization_id = %s and id = %s", (at, organization_id, member_id))


@dataclass(frozen=True, slots=True)
class MemberWithPlan:
    """A member (`id` None: unknown so far) with their organization's plan and their unread notifications."""

    id: UUID | None
    role: str | None
    email: str | None
    is_email_verified: bool | None
    plan_tier: str
    subscription_status: str
    trial_ends_at: datetime | None
    gateways: tuple[str, ...]
    timezone: str
    seen_at: datetime | None
    unread_count: int


_MEMBERS_WITH_PLAN = Rows(MemberWithPlan)
_OF_MEMBER = {name: f"m.{name}" for name in ("id", "role", "email", "is_email_verified", "seen_at")}
_PLAN = columns(
    MemberWithPlan, "o", gateways="o.gateways || o.connected_gateways", unread_count=UNREAD_COUNT, **_OF_MEMBER
)
_FIND_WITH_PLAN = f"""
select {_PLAN}
from organization o left join member m on m.organization_id = o.id and m.subject = %(subject)s {READER_JOIN}
where o.id = %(organization_id)s
"""


def find_with_plan(*, organization_id: UUID, subject: str, kinds: Sequence[str]) -> MemberWithPlan | None:
    """Return a member by the subject of their token, with their organization; None when there is no such tenant.

    Their unread notifications of these kinds are counted.
    """
    params = {"organization_id": organization_id, "subject": subject, "kinds": list(kinds)}
    return _MEMBERS_WITH_PLAN.first(_FIND_WITH_PLAN, params)
