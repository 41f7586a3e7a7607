"""The team: members with their roles, and invitations, with the forms that the person may use."""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint, Response, request

from api import sessions
from api.organization.members import list_members, revoke_member_sessions
from api.organization.team import (
    change_member_role,
    create_team_invite,
    delete_team_entry,
    list_team,
    resend_team_invite,
)
from domain.organization import access
from domain.organization.access import Role
from pages import api_client, forms, screens, session
from pages.brand.settings import browsers
from pages.form_pages import Body, CustomForm, Form, form_page, send
from pages.forms import FormState

blueprint = Blueprint("team_page", __name__)

_HERE = "/dashboard/settings/team"
_TAKE = 200
_RANK = {role: rank for rank, role in enumerate(Role)}


def _read_invite() -> Body:
    return {"email": request.form.get("email", "").strip(), "role": request.form.get("role", "")}


def _read_role() -> Body:
    return {"role": request.form.get("role", "")}


def _remove(entry_id: str) -> Response | FormState:
    """Remove a member, with their API keys if that was ticked."""
    query = {"revokeApiKeys": "true"} if "revokeApiKeys" in request.form else None
    answer = send(delete_team_entry, path={"entry_id": entry_id}, query=query)
    if answer.refusal is not None:
        return forms.form_with_alert(answer)
    return screens.redirect(f"{_HERE}?done=removed")


def _end_sessions(entry_id: str) -> Response | FormState:
    """End all sessions of a member."""
    answer = send(revoke_member_sessions, path={"member_id": entry_id})
    if answer.refusal is not None:
        return forms.form_with_alert(answer)
    return screens.redirect(f"{_HERE}?done=sessions")


_LIST_FORMS = (
    Form("", create_team_invite, _read_invite, id="invite-", done="invited", shows_all=True),
    Form("/<entry_id>/resend", resend_team_invite, to=_HERE, done="resent"),
)
_MEMBER_FORMS = (
    Form("/role", change_member_role, _read_role, to=_HERE, id="role-", done="role"),
    CustomForm("/remove", _remove, (delete_team_entry,)),
    CustomForm("/sessions", _end_sessions, (revoke_member_sessions,)),
)


@form_page(blueprint, "member", _HERE, *_LIST_FORMS, uses=(list_team, delete_team_entry), restores=True)
def show_team(form: FormState | None) -> Response:
    """Show the team, the highest role first, and the invitations. Budget: 2 round trips."""
    entries = _list_entries()
    return screens.render(
        "brand/settings/team.html",
        form or forms.prefill("invite-", role=Role.Manager),
        members=[entry for entry in entries if entry["status"] == "Active"],
        invites=[entry for entry in entries if entry["status"] != "Active"],
        roles=_grantable_roles(),
        may_change=lambda role: access.at_least(_own_role(), role),
        is_managed_here=sessions.manages_team(),
    )


@form_page(blueprint, "member", f"{_HERE}/<entry_id>", *_MEMBER_FORMS, uses=(list_team, list_members), restores=True)
def show_team_member(form: FormState | None, entry_id: str) -> Response:
    """Show one member or invitation, with the forms to change it. Budget: 2 round trips, 6 for an Admin."""
    entry = next((row for row in _list_entries() if row["id"] == entry_id), None)
    if entry is None:
        return screens.refuse_address(entry_id)
    own_role = _own_role()
    return screens.render(
        "brand/settings/team_member.html",
        form or forms.prefill("role-", role=entry["role"]),
        entry=entry,
        address=f"{_HERE}/{entry_id}",
        roles=_grantable_roles(),
        may_change=access.at_least(own_role, entry["role"]) and sessions.manages_team(),
        is_managed_here=sessions.manages_team(),
        sessions=_list_sessions(entry_id),
        is_self=entry["email"] == session.require_person().email,
    )


def _list_entries() -> Sequence[Mapping[str, Any]]:
    """Return the whole team; each page of the list has up to 200 entries."""
    entries: list[Mapping[str, Any]] = []
    cursor = None
    while True:
        page = api_client.require(list_team, query={"take": _TAKE, "cursor": cursor})
        entries += page["items"]
        cursor = page["nextCursor"]
        if cursor is None:
            return sorted(entries, key=lambda entry: (_RANK[Role(entry["role"])], entry["email"]))


def _list_sessions(member_id: str) -> Sequence[Mapping[str, Any]]:
    if not api_client.is_allowed(list_members):
        return ()
    member = next((row for row in api_client.require(list_members) if row["id"] == member_id), None)
    sessions = member["sessions"] if member else ()
    return [row | {"browser": browsers.describe_browser(row["userAgent"])} for row in sessions]


def _grantable_roles() -> Sequence[tuple[str, str]]:
    """Return the roles that the person may give: those not above their own."""
    return [(role, f"{role}: {_ROLE_HINTS[role]}") for role in Role if access.at_least(_own_role(), role)]


def _own_role() -> Role:
    member = session.require_person().member
    assert member is not None  # the screen is for members
    return member.role


_ROLE_HINTS: Mapping[Role, str] = {
    Role.Owner: "everything, with billing and payouts",
    Role.Admin: "team, API keys and settings",
    Role.Manager: "programs, affiliates and conversions",
    Role.Viewer: "can view, cannot change anything",
}
