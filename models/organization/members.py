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
    """A member; `subject` is their id at the identity provider, None before they signed in.

    `removed_at` is when the team removed them, `access_changed_at` when it last changed their role or removed them.
    """

    id: UUID
    organization_id: UUID
    email: str
    is_email_verified: bool
    role: str
    subject: str | None
    created_at: datetime
    seen_at: datetime
    removed_at: datetime | None = None
    access_changed_at: datetime | None = None


_TABLE = Table("member", Member)
#: Insert a member; False when a concurrent request inserted them.
insert = _TABLE.insert


_FIND = f"""
select {_TABLE.columns} from member
where organization_id = %(org)s and removed_at is null
  and case when %(email)s is null then role = 'Owner' else email = %(email)s end
order by created_at, id limit 1
"""


def find(*, organization_id: UUID, email: str | None) -> Member | None:
    """Return the member with this email; with None the organization's first Owner."""
    return _TABLE.first(_FIND, {"org": organization_id, "email": email})


_LIST = f"""
select {_TABLE.columns} from member where organization_id = %s and removed_at is null
order by array_position(array['Owner', 'Admin', 'Manager', 'Viewer'], role), email, id limit %s
"""


def list_members(*, organization_id: UUID, limit: int) -> list[Member]:
    """Return an organization's active members, the highest role first."""
    return _TABLE.all(_LIST, (organization_id, limit))


_BY_ID = f"select {_TABLE.columns} from member where organization_id = %s and id = %s and removed_at is null"


def find_by_id(*, organization_id: UUID, member_id: UUID) -> Member | None:
    """Return one active member of an organization."""
    return _TABLE.first(_BY_ID, (organization_id, member_id))


_OWNERS = """
select email from member where organization_id = %s and role = 'Owner' and removed_at is null and email <> ''
order by created_at, id
"""


def list_owner_emails(organization_id: UUID) -> list[str]:
    """Return the email addresses of the organization's Owners, oldest member first."""
    return list(dict.fromkeys(email for (email,) in db.run(_OWNERS, (organization_id,))))


_CLAIM = """
update member set subject = %s, role = %s, is_email_verified = true
where organization_id = %s and email = %s and subject is null and removed_at is null returning id
"""


def claim(*, organization_id: UUID, email: str, subject: str, role: str) -> bool:
    """Link the member created with an email to the person who signed in with it and proved it.

    Returns False without such a member.
    """
    return bool(db.run(_CLAIM, (subject, role, organization_id, email)))


# The only Owner stays one in the list. A change by the team in the meantime wins.
_STAGE_CHANGE = """
update member m set email = %(email)s, is_email_verified = %(is_verified)s, removed_at = null, role = case
  when m.role = 'Owner' and m.removed_at is null and not exists (
    select from member o
    where o.organization_id = m.organization_id and o.id <> m.id and o.role = 'Owner' and o.removed_at is null)
  then m.role else %(role)s end
where organization_id = %(org)s and id = %(id)s and access_changed_at is not distinct from %(changed)s
"""


def stage_change(
    member: "MemberWithPlan", *, organization_id: UUID, role: str, email: str, is_email_verified: bool
) -> None:
    """Stage the role and email of a member as the identity provider or the operator reports them now."""
    db.stage(
        _STAGE_CHANGE,
        {
            "email": email,
            "is_verified": is_email_verified,
            "role": role,
            "org": organization_id,
            "id": member.id,
            "changed": member.access_changed_at,
        },
    )


def stage_seen(*, organization_id: UUID, member_id: UUID, at: datetime) -> None:
    """Stage the time at which a member was last seen."""
    db.stage("update member set seen_at = %s where organization_id = %s and id = %s", (at, organization_id, member_id))


@dataclass(frozen=True, slots=True)
class MemberWithPlan:
    """A member (`id` None: unknown so far) with their organization's plan and their unread notifications.

    `lacks_second_factor`: the organization requires a second factor, and this person has none.
    """

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
    removed_at: datetime | None
    access_changed_at: datetime | None
    lacks_second_factor: bool
    unread_count: int


_MEMBERS_WITH_PLAN = Rows(MemberWithPlan)
_OF_MEMBER = {
    name: f"m.{name}"
    for name in ("id", "role", "email", "seen_at", "is_email_verified", "removed_at", "access_changed_at")
}
_LACKS_SECOND_FACTOR = """(o.require_second_factor and not exists (
  select from second_factor f where f.email = m.email and f.enabled_at is not null))"""
_PLAN = columns(
    MemberWithPlan,
    "o",
    gateways="o.gateways || o.connected_gateways",
    lacks_second_factor=_LACKS_SECOND_FACTOR,
    unread_count=UNREAD_COUNT,
    **_OF_MEMBER,
)
_FIND_WITH_PLAN = f"""
select {_PLAN}
from organization o left join member m on m.organization_id = o.id and m.subject = %(subject)s {READER_JOIN}
where o.id = %(organization_id)s
"""


def find_with_plan(*, organization_id: UUID, subject: str, kinds: Sequence[str]) -> MemberWithPlan | None:
    """Return a member, removed or not, by the subject of their token, with their organization.

    None when there is no such tenant. Their unread notifications of these kinds are counted.
    """
    params = {"organization_id": organization_id, "subject": subject, "kinds": list(kinds)}
    return _MEMBERS_WITH_PLAN.first(_FIND_WITH_PLAN, params)
