"""The creator network: the programs of all brands that accept applications from the network, and the form to apply."""

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
# Ten long answers in any script, as a browser encodes them.
_MAX_BYTES = 512 * 1024


@blueprint.get(_HERE)
@screen("account", uses=(*frame.USES, list_network_programs))
def show_network() -> Response:
    """Show programs of the network by the filter in the address, twenty a page. Budget: 2 round trips."""
    return frame.render("discover.html", **_PROGRAMS.read().values())


def _apply(listed_id: str) -> Response | FormState:
    """Apply with the email of the signed-in person, and redirect to the status of the application."""
    names = ("fullName", "website", "audience", "whyInterested")
    answers = {name: value for name in names if (value := request.form.get(name, "").strip())}
    body = {**answers, "answers": forms.read_answers()}
    return send_form(apply_to_network_program, path={"program_id": listed_id}, body=body, to=f"{_HERE}/{{program_id}}")


@form_page(
    blueprint,
    "account",
    f"{_HERE}/<listed_id>",
    CustomForm("/apply", _apply, (apply_to_network_program,), _MAX_BYTES),
    uses=(*frame.USES, get_network_program),
)
def show_network_program(form: FormState | None, listed_id: str) -> Response:
    """Show one program with a form to apply. Budget: 5 round trips."""
    program = api_client.require(get_network_program, path={"program_id": listed_id})
    # The path alone: a page loads files of its own origin only.
    logo = urlsplit(program["logoUrl"]).path if program["logoUrl"] else None
    application = program["applicationForm"]
    questions = application["fields"] if application else []
    return frame.render("discovered.html", form, program=program, logo=logo, questions=questions)
