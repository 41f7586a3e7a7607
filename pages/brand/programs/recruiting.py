"""What recruiting other affiliates pays in a program."""

from typing import Any

from flask import Blueprint, Response, request

from api.programs.programs import get_program
from api.programs.sub_affiliates import get_sub_affiliate_config, put_sub_affiliate_config
from pages import calls, forms, screens, typed
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("program_recruiting_page", __name__)

_PAGE = "/dashboard/programs/<program_id>/recruiting"


@blueprint.get(_PAGE)
@screen("member", uses=(get_program, get_sub_affiliate_config))
def show_recruiting(program_id: str) -> Response:
    """Show what recruiting pays. Budget: 2 round trips."""
    path = {"program_id": program_id}
    program, config = calls.needed(get_program, path=path), calls.needed(get_sub_affiliate_config, path=path)
    return _show(program, forms.blank(enabled="on" if config["enabled"] else None, percent=config["percent"]))


@blueprint.post(_PAGE)
@screen("member", uses=(get_program, put_sub_affiliate_config))
def set_recruiting(program_id: str) -> Response:
    """Set both, and show them."""
    path = {"program_id": program_id}
    program = calls.needed(get_program, path=path)
    body = {"enabled": "enabled" in request.form, "percent": typed.number(request.form.get("percent", ""))}
    answer = calls.tried(put_sub_affiliate_config, path=path, body=body, key=forms.key())
    if answer.refusal is not None:
        return _show(program, forms.refused(answer.refusal), answer.status)
    return screens.sent_on(f"/dashboard/programs/{program['id']}/recruiting")


def _show(program: Any, form: FormState, status: int = 200) -> Response:
    return screens.show(
        "brand/programs/recruiting.html",
        status=status,
        form=form,
        program=program,
        base=f"/dashboard/programs/{program['id']}",
        can_change=calls.may(put_sub_affiliate_config),
    )
