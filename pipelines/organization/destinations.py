"""Where a person may sign in by email: organizations as a member or by an invitation, and the affiliate portal."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from adapters.identity import tokens
from models.affiliates import accounts
from models.organization import member_invites, memberships
from models.organization.member_invites import ListedInvite
from pipelines.organization.team import changes


@dataclass(frozen=True, slots=True)
class SignInDestination:
    """A destination of a sign-in: `key` names it in a form. An affiliate account has no organization.

    An `invite` is accepted when its person signs in there.
    """

    key: str
    kind: Literal["member", "account"]
    organization_id: UUID | None = None
    organization_name: str = ""
    role: str | None = None
    invite: ListedInvite | None = None


ACCOUNT = SignInDestination("account", "account")


def any_org_list(email: str, *, subject: str, now: datetime) -> list[SignInDestination]:
    """Return the destinations of a verified email: organizations, the last visited first, invitations, the portal."""
    listed: list[SignInDestination] = []
    if changes.signs_in_by_email():
        listed += [
            SignInDestination(str(row.organization_id), "member", row.organization_id, row.organization_name, row.role)
            for row in memberships.any_org_list_memberships(email=email, subject=subject)
        ]
        listed += [
            SignInDestination(
                str(row.organization_id), "member", row.organization_id, row.organization_name, row.role, row
            )
            for row in member_invites.any_org_list_by_email(email, now=now)
        ]
    if _affiliates_sign_in_by_email() and accounts.any_org_find_newest_brand(email) is not None:
        listed.append(ACCOUNT)
    return listed


def choose(
    listed: Sequence[SignInDestination], *, key: str | None, next_page: str | None, current_organization_id: UUID | None
) -> SignInDestination | None:
    """Return the destination that a person chose, or that leaves nothing to choose; None if they have to.

    Without a `key` the `next_page` says whether it is the portal or the dashboard, and there the organization in which
    the browser is signed in already is meant.
    """
    if key is not None:
        return next((row for row in listed if row.key == key), None)
    fitting = [row for row in listed if next_page is None or (row.kind == "account") == _is_portal(next_page)]
    current = [row for row in fitting if row.organization_id and row.organization_id == current_organization_id]
    if current:
        return current[0]
    fitting = fitting or list(listed)
    return fitting[0] if len(fitting) == 1 and fitting[0].invite is None else None


def _is_portal(page: str) -> bool:
    return page.startswith("/portal")


def _affiliates_sign_in_by_email() -> bool:
    try:
        tokens.check_local("affiliate")
    except tokens.NotLocal:
        return False
    return True
