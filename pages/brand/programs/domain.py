"""The custom domain of a program: what to set up in DNS, what was found there, and a look at once."""

from flask import Blueprint, Response, request

from api.programs.domain import check_program_domain, get_program_domain
from api.programs.programs import change_program, get_program
from pages import api_client, form_values, forms, screens
from pages.brand import looks
from pages.form_pages import Body, CustomForm, Form, form_page
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("program_domain_page", __name__)

_PAGE = "/dashboard/programs/<program_id>/domain"


def _read_domain() -> Body:
    """Return the domain that the program is to have, or none."""
    return {"customDomain": form_values.parse_host(request.form.get("customDomain", ""))}


def _check_domain(program_id: str) -> Response | FormState:
    """Ask DNS now."""
    answer = api_client.call(check_program_domain, path={"program_id": program_id}, key=forms.idempotency_key())
    return looks.lead_on(answer, f"/dashboard/programs/{program_id}/domain#found")


_FORMS = (
    Form("", change_program, _read_domain),
    CustomForm("/check", _check_domain, (check_program_domain,)),
)


@form_page(blueprint, "member", _PAGE, *_FORMS, uses=(get_program, get_program_domain))
def show_domain(form: FormState | None, program_id: str) -> Response:
    """Show the domain, and the records that prove it. Budget: 2 round trips."""
    path = {"program_id": program_id}
    program = api_client.require(get_program, path=path)
    proof = api_client.require(get_program_domain, path=path)
    base = f"/dashboard/programs/{program['id']}"
    return screens.render(
        "brand/programs/domain.html",
        form,
        name=form if form and form.values else forms.prefill(customDomain=proof["domain"]),
        program=program,
        base=base,
        proof=proof,
        found_at=f"{base}/domain/found",
        can_change=api_client.is_allowed(change_program) and not program["archivedAt"],
    )


@blueprint.get(f"{_PAGE}/found")
@screen("member", uses=(get_program_domain,))
def show_found(program_id: str) -> Response:
    """Show what was found alone. Budget: 1 round trip."""
    proof = api_client.require(get_program_domain, path={"program_id": program_id})
    return screens.render_part(
        "brand/_domain_found.html", proof=proof, found_at=f"/dashboard/programs/{program_id}/domain/found"
    )
