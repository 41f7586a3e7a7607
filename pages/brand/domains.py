"""A brand's own domains with DNS records and an immediate check: domains of programs and of the tracking script."""

from flask import Blueprint, Response, request

from api.organization.tracking_domain import change_tracking_domain, check_tracking_domain, get_tracking_domain
from api.programs.domain import check_program_domain, get_program_domain
from api.programs.programs import change_program, get_program
from pages import api_client, form_values, forms, screens
from pages.api_client import ApiResult
from pages.form_pages import Body, CustomForm, Form, form_page
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("domains_page", __name__)

_PROGRAM_DOMAIN = "/dashboard/programs/<program_id>/domain"
_TRACKING_DOMAIN = "/dashboard/settings/tracking-domain"
# Refusals of a check that the page itself shows.
_SHOWN_STATUSES = (409, 503)


def _redirect_after_check(answer: ApiResult, to: str) -> Response | FormState:
    """Return the redirect to the result of a DNS check, or the form with its refusal. Raises Refused for other ones."""
    if answer.status in _SHOWN_STATUSES:
        return forms.form_with_alert(answer)
    api_client.require_data(answer)
    return screens.redirect(to)


def _read_program_domain() -> Body:
    """Return the program's new domain, or None to remove it."""
    return {"customDomain": form_values.parse_host(request.form.get("customDomain", ""))}


def _check_program_domain(program_id: str) -> Response | FormState:
    """Query DNS now."""
    answer = api_client.call(check_program_domain, path={"program_id": program_id}, key=forms.idempotency_key())
    return _redirect_after_check(answer, f"/dashboard/programs/{program_id}/domain#found")


_PROGRAM_FORMS = (
    Form("", change_program, _read_program_domain),
    CustomForm("/check", _check_program_domain, (check_program_domain,)),
)


@form_page(blueprint, "member", _PROGRAM_DOMAIN, *_PROGRAM_FORMS, uses=(get_program, get_program_domain))
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


@blueprint.get(f"{_PROGRAM_DOMAIN}/found")
@screen("member", uses=(get_program_domain,))
def show_found(program_id: str) -> Response:
    """Show the result of the DNS check alone. Budget: 1 round trip."""
    proof = api_client.require(get_program_domain, path={"program_id": program_id})
    return screens.render_part(
        "brand/_domain_found.html", proof=proof, found_at=f"/dashboard/programs/{program_id}/domain/found"
    )


def _read_tracking_domain() -> Body:
    """Return the new tracking domain, or None to remove it."""
    return {"trackingDomain": form_values.parse_host(request.form.get("trackingDomain", ""))}


def _check_tracking_domain() -> Response | FormState:
    """Query DNS now."""
    return _redirect_after_check(
        api_client.call(check_tracking_domain, key=forms.idempotency_key()), f"{_TRACKING_DOMAIN}#found"
    )


_TRACKING_FORMS = (
    Form("", change_tracking_domain, _read_tracking_domain),
    CustomForm("/check", _check_tracking_domain, (check_tracking_domain,)),
)


@form_page(blueprint, "member", _TRACKING_DOMAIN, *_TRACKING_FORMS, uses=(get_tracking_domain,))
def show_tracking_domain(form: FormState | None) -> Response:
    """Show the domain, and the records that prove it. Budget: 1 round trip."""
    proof = api_client.require(get_tracking_domain)
    return screens.render(
        "brand/settings/tracking_domain.html",
        form,
        name=form if form and form.values else forms.prefill(trackingDomain=proof["domain"]),
        proof=proof,
        found_at=f"{_TRACKING_DOMAIN}/found",
        can_change=api_client.is_allowed(change_tracking_domain),
    )


@blueprint.get(f"{_TRACKING_DOMAIN}/found")
@screen("member", uses=(get_tracking_domain,))
def show_tracking_found() -> Response:
    """Show the result of the DNS check alone. Budget: 2 round trips."""
    return screens.render_part(
        "brand/_domain_found.html", proof=api_client.require(get_tracking_domain), found_at=f"{_TRACKING_DOMAIN}/found"
    )
