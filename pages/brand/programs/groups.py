"""Partner groups of a program: affiliates who share a rate."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from api.programs.partner_groups import (
    change_partner_group,
    create_partner_group,
    delete_partner_group,
    get_partner_group,
    list_partner_groups,
)
from api.programs.programs import get_program
from domain.refused import Refused
from pages import calls, forms, screens, typed
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("partner_groups_page", __name__)

_GROUPS = "/dashboard/programs/<program_id>/groups"
_GROUP = f"{_GROUPS}/<group_id>"


@blueprint.get(_GROUPS)
@screen("member", uses=(get_program, list_partner_groups))
def show_groups(program_id: str) -> Response:
    """Show the groups, and the form of a new one. Budget: 3 round trips."""
    return _show_all(program_id, forms.blank(commissionType="Percentage"))


@blueprint.post(_GROUPS)
@screen("member", uses=(get_program, list_partner_groups, create_partner_group))
def make_group(program_id: str) -> Response:
    """Make a group, and show all of them."""
    answer = calls.tried(create_partner_group, path={"program_id": program_id}, body=_body(), key=forms.key())
    if answer.refusal is not None:
        return _show_all(program_id, forms.refused(answer.refusal), answer.status)
    return screens.sent_on(f"/dashboard/programs/{program_id}/groups")


@blueprint.get(_GROUP)
@screen("member", uses=(get_program, get_partner_group))
def show_group(program_id: str, group_id: str) -> Response:
    """Show a group to be changed or deleted. Budget: 4 round trips."""
    path = {"program_id": program_id, "group_id": group_id}
    group = calls.needed(get_partner_group, path=path)
    if not calls.may(change_partner_group):
        raise Refused(403)
    named = ("name", "commissionType", "commissionValue")
    return _show_one(program_id, group, forms.blank(**{name: group[name] for name in named}))


@blueprint.post(_GROUP)
@screen("member", uses=(get_program, get_partner_group, change_partner_group))
def change_group(program_id: str, group_id: str) -> Response:
    """Change a group, and show all of them."""
    path = {"program_id": program_id, "group_id": group_id}
    answer = calls.tried(change_partner_group, path=path, body=_body(), key=forms.key())
    if answer.refusal is not None:
        group = calls.needed(get_partner_group, path=path)
        return _show_one(program_id, group, forms.refused(answer.refusal), answer.status)
    return screens.sent_on(f"/dashboard/programs/{program_id}/groups")


@blueprint.post(f"{_GROUP}/delete")
@screen("member", uses=(get_program, get_partner_group, delete_partner_group))
def delete_group(program_id: str, group_id: str) -> Response:
    """Delete a group, and show those that are left."""
    path = {"program_id": program_id, "group_id": group_id}
    answer = calls.tried(delete_partner_group, path=path, key=forms.key())
    if answer.refusal is not None:
        group = calls.needed(get_partner_group, path=path)
        return _show_one(program_id, group, forms.refused(answer.refusal), answer.status)
    return screens.sent_on(f"/dashboard/programs/{program_id}/groups")


def _body() -> dict[str, Any]:
    sent = request.form
    return {
        "name": sent.get("name", ""),
        "commissionType": sent.get("commissionType", ""),
        "commissionValue": typed.number(sent.get("commissionValue", "")),
    }


def _show_all(program_id: str, form: FormState, status: int = 200) -> Response:
    path = {"program_id": program_id}
    program = calls.needed(get_program, path=path)
    return screens.show(
        "brand/programs/groups.html",
        status=status,
        form=form,
        program=program,
        base=f"/dashboard/programs/{program['id']}",
        groups=calls.needed(list_partner_groups, path=path),
        can_change=calls.may(create_partner_group) and not program["archivedAt"],
    )


def _show_one(program_id: str, group: Mapping[str, Any], form: FormState, status: int = 200) -> Response:
    program = calls.needed(get_program, path={"program_id": program_id})
    base = f"/dashboard/programs/{program['id']}"
    return screens.show("brand/programs/group.html", status=status, form=form, program=program, base=base, group=group)
