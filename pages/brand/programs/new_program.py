"""A new program."""

from flask import Blueprint, Response, request

from api.programs.programs import create_program
from domain.refusals import Refused
from pages import api_client, form_values, forms, screens
from pages.form_pages import Body, Form, form_page
from pages.forms import FormState

blueprint = Blueprint("new_program_page", __name__)


def _read_program() -> Body:
    fields = request.form
    return {
        "name": fields.get("name", ""),
        "slug": fields.get("slug", "").strip() or None,
        "referralDestinationUrl": fields.get("referralDestinationUrl", "").strip() or None,
        "defaultCommissionType": fields.get("defaultCommissionType", ""),
        "defaultCommissionValue": form_values.parse_number(fields.get("defaultCommissionValue", "")),
        "recurringMonths": 0 if fields.get("recurring") == "first" else None,
    }


_NEW = Form("", create_program, _read_program, to="/dashboard/programs/{id}", shows_all=True)


@form_page(blueprint, "member", "/dashboard/programs/new", _NEW)
def show_new_program(form: FormState | None) -> Response:
    """Show the form of a new program. Budget: none."""
    if form is None and not api_client.is_allowed(create_program):
        raise Refused(403)
    form = form or forms.prefill(defaultCommissionType="Percentage", recurring="ever")
    return screens.render("brand/programs/new.html", form)
