"""The commission of a program for recruiting other affiliates."""

from flask import Blueprint, Response, request

from api.programs.programs import get_program
from api.programs.sub_affiliates import get_sub_affiliate_config, put_sub_affiliate_config
from pages import api_client, form_values, forms, screens
from pages.form_pages import Body, Form, form_page
from pages.forms import FormState

blueprint = Blueprint("program_recruiting_page", __name__)


def _read_recruiting() -> Body:
    return {"enabled": "enabled" in request.form, "percent": form_values.parse_number(request.form.get("percent", ""))}


@form_page(
    blueprint,
    "member",
    "/dashboard/programs/<program_id>/recruiting",
    Form("", put_sub_affiliate_config, _read_recruiting),
    uses=(get_program, get_sub_affiliate_config),
)
def show_recruiting(form: FormState | None, program_id: str) -> Response:
    """Show the commission for recruiting. Budget: 2 round trips."""
    path = {"program_id": program_id}
    program = api_client.require(get_program, path=path)
    if form is None:
        config = api_client.require(get_sub_affiliate_config, path=path)
        form = forms.prefill(enabled="on" if config["enabled"] else None, percent=config["percent"])
    return screens.render(
        "brand/programs/recruiting.html", form, program=program, base=f"/dashboard/programs/{program['id']}"
    )
