"""A new program."""

from flask import Blueprint, Response, request

from api.programs.programs import create_program
from domain.refused import Refused
from pages import calls, forms, screens, typed
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("new_program_page", __name__)


@blueprint.get("/dashboard/programs/new")
@screen("member")
def show_new_program() -> Response:
    """Show the form of a new program. Budget: none."""
    if not calls.may(create_program):
        raise Refused(403)
    return _show(forms.blank(defaultCommissionType="Percentage", recurring="ever"))


@blueprint.post("/dashboard/programs/new")
@screen("member", uses=(create_program,))
def make_program() -> Response:
    """Make the program and lead to it."""
    sent = request.form
    body = {
        "name": sent.get("name", ""),
        "slug": sent.get("slug", "").strip() or None,
        "defaultCommissionType": sent.get("defaultCommissionType", ""),
        "defaultCommissionValue": typed.number(sent.get("defaultCommissionValue", "")),
        "recurringMonths": 0 if sent.get("recurring") == "first" else None,
    }
    answer = calls.call(create_program, body=body, key=forms.key())
    if answer.refusal is not None:
        return _show(forms.refused(answer.refusal), answer.status)
    return screens.sent_on(f"/dashboard/programs/{answer.data['id']}")


def _show(form: FormState, status: int = 200) -> Response:
    return screens.show("brand/programs/new.html", status=status, form=form)
