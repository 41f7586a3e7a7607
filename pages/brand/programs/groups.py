"""Partner groups of a program: affiliates who share a rate."""

from flask import Blueprint, Response, request

from api.programs.partner_groups import (
    change_partner_group,
    create_partner_group,
    delete_partner_group,
    get_partner_group,
    list_partner_groups,
)
from api.programs.programs import get_program
from domain.refusals import Refused
from pages import api_client, form_values, forms, screens
from pages.form_pages import Body, Form, form_page
from pages.forms import FormState

blueprint = Blueprint("partner_groups_page", __name__)

_GROUPS = "/dashboard/programs/<program_id>/groups"


def _read_group() -> Body:
    fields = request.form
    return {
        "name": fields.get("name", ""),
        "commissionType": fields.get("commissionType", ""),
        "commissionValue": form_values.parse_number(fields.get("commissionValue", "")),
    }


@form_page(
    blueprint, "member", _GROUPS, Form("", create_partner_group, _read_group), uses=(get_program, list_partner_groups)
)
def show_groups(form: FormState | None, program_id: str) -> Response:
    """Show the groups, and the form of a new one. Budget: 3 round trips."""
    path = {"program_id": program_id}
    program = api_client.require(get_program, path=path)
    return screens.render(
        "brand/programs/groups.html",
        form or forms.prefill(commissionType="Percentage"),
        program=program,
        base=f"/dashboard/programs/{program['id']}",
        groups=api_client.require(list_partner_groups, path=path),
        can_change=api_client.is_allowed(create_partner_group) and not program["archivedAt"],
    )


_FORMS = (
    Form("", change_partner_group, _read_group, to="/dashboard/programs/{program_id}/groups"),
    Form("/delete", delete_partner_group, to="/dashboard/programs/{program_id}/groups"),
)


@form_page(blueprint, "member", f"{_GROUPS}/<group_id>", *_FORMS, uses=(get_program, get_partner_group))
def show_group(form: FormState | None, program_id: str, group_id: str) -> Response:
    """Show the forms to change and delete a group. Budget: 4 round trips."""
    group = api_client.require(get_partner_group, path={"program_id": program_id, "group_id": group_id})
    if form is None:
        if not api_client.is_allowed(change_partner_group):
            raise Refused(403)
        form = forms.prefill(**{name: group[name] for name in ("name", "commissionType", "commissionValue")})
    program = api_client.require(get_program, path={"program_id": program_id})
    base = f"/dashboard/programs/{program['id']}"
    return screens.render("brand/programs/group.html", form, program=program, base=base, group=group)
