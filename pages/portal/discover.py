"""The creator network: programs of every brand that one may apply to, and the form with which one does."""

from urllib.parse import urlsplit

from flask import Blueprint, Response, request

from api.me.network import apply_to_network_program, get_network_program, list_network_programs
from pages import api_client, forms
from pages.form_pages import CustomForm, form_page, send_form
from pages.forms import FormState
from pages.list_pages import RowList
from pages.portal import frame
from pages.screens import screen

blueprint = Blueprint("portal_discover_page", __name__)

_HERE = "/portal/discover"
_PROGRAMS = RowList(list_network_programs, ("category", "commissionModel", "currency"), query={"take": "20"})
# What a browser makes of ten long answers in any script.
_MOST_BYTES = 512 * 1024


@blueprint.get(_HERE)
@screen("account", uses=(*frame.USES, list_network_programs))
def show_network() -> Response:
    """Show programs of the network by the filter in the address, twenty a page. Budget: 2 round trips."""
    return frame.show("discover.html", **_PROGRAMS.read().values())


def _apply(listed_id: str) -> Response | FormState:
    """Apply with the address that one is signed in with, and lead to the status of the application."""
    names = ("fullName", "website", "audience", "whyInterested")
    answers = {name: value for name in names if (value := request.form.get(name, "").strip())}
    body = {**answers, "answers": forms.read_answers()}
    return send_form(apply_to_network_program, path={"program_id": listed_id}, body=body, to=f"{_HERE}/{{program_id}}")


@form_page(
    blueprint,
    "account",
    f"{_HERE}/<listed_id>",
    CustomForm("/apply", _apply, (apply_to_network_program,), _MOST_BYTES),
    uses=(*frame.USES, get_network_program),
)
def show_network_program(form: FormState | None, listed_id: str) -> Response:
    """Show one program with a form to apply. Budget: 5 round trips."""
    program = api_client.require(get_network_program, path={"program_id": listed_id})
    # The path alone: what a page loads is of its own origin.
    logo = urlsplit(program["logoUrl"]).path if program["logoUrl"] else None
    application = program["applicationForm"]
    questions = application["fields"] if application else []
    return frame.show("discovered.html", form, program=program, logo=logo, questions=questions)
