"""The custom domain of a program: what to set up in DNS, what was found there, and a look at once."""

from typing import Any

from flask import Blueprint, Response, request

from api.programs.domain import check_program_domain, get_program_domain
from api.programs.programs import change_program, get_program
from pages import calls, forms, fragments, screens, typed
from pages.brand import looks
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("program_domain_page", __name__)

_PAGE = "/dashboard/programs/<program_id>/domain"
_USES = (get_program, get_program_domain, change_program, check_program_domain)


@blueprint.get(_PAGE)
@screen("member", uses=_USES)
def show_domain(program_id: str) -> Response:
    """Show the domain, and the records that prove it. Budget: 2 round trips."""
    return _show(program_id)


@blueprint.post(_PAGE)
@screen("member", uses=_USES)
def set_domain(program_id: str) -> Response:
    """Give the program another domain, or none."""
    body = {"customDomain": typed.host(request.form.get("customDomain", ""))}
    answer = calls.tried(change_program, path={"program_id": program_id}, body=body, key=forms.key())
    if answer.refusal is not None:
        return _show(program_id, forms.refused(answer.refusal), answer.status)
    return screens.sent_on(f"/dashboard/programs/{program_id}/domain")


@blueprint.post(f"{_PAGE}/check")
@screen("member", uses=_USES)
def look_at_domain(program_id: str) -> Response:
    """Ask DNS now."""
    answer = calls.call(check_program_domain, path={"program_id": program_id}, key=forms.key())
    if answer.refusal is None:
        return screens.sent_on(f"/dashboard/programs/{program_id}/domain#found")
    return _show(program_id, looks.refused(answer), answer.status)


@blueprint.get(f"{_PAGE}/found")
@screen("member", uses=(get_program_domain,))
def show_found(program_id: str) -> Response:
    """Show what was found alone. Budget: 1 round trip."""
    proof = calls.needed(get_program_domain, path={"program_id": program_id})
    return fragments.show(
        "brand/_domain_found.html", proof=proof, found_at=f"/dashboard/programs/{program_id}/domain/found"
    )


def _show(program_id: str, form: FormState | None = None, status: int = 200) -> Response:
    path = {"program_id": program_id}
    program: Any = calls.needed(get_program, path=path)
    proof = calls.needed(get_program_domain, path=path)
    base = f"/dashboard/programs/{program['id']}"
    return screens.show(
        "brand/programs/domain.html",
        status=status,
        form=form or forms.EMPTY,
        here=f"{base}/domain",
        name=form if form and form.values else forms.blank(customDomain=proof["domain"]),
        program=program,
        base=base,
        proof=proof,
        found_at=f"{base}/domain/found",
        can_change=calls.may(change_program) and not program["archivedAt"],
    )
