"""The tracking domain: what to set up in DNS, what was found there, and a look at once."""

from flask import Blueprint, Response, request

from api.organization.tracking_domain import change_tracking_domain, check_tracking_domain, get_tracking_domain
from pages import api_client, form_values, forms, screens
from pages.brand import looks
from pages.form_pages import Body, CustomForm, Form, form_page
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("tracking_domain_page", __name__)

_HERE = "/dashboard/settings/tracking-domain"


def _read_domain() -> Body:
    """Return the domain that is to be set, or none."""
    return {"trackingDomain": form_values.parse_host(request.form.get("trackingDomain", ""))}


def _check_domain() -> Response | FormState:
    """Ask DNS now."""
    return looks.lead_on(api_client.call(check_tracking_domain, key=forms.idempotency_key()), f"{_HERE}#found")


_FORMS = (
    Form("", change_tracking_domain, _read_domain),
    CustomForm("/check", _check_domain, (check_tracking_domain,)),
)


@form_page(blueprint, "member", _HERE, *_FORMS, uses=(get_tracking_domain,))
def show_tracking_domain(form: FormState | None) -> Response:
    """Show the domain, and the records that prove it. Budget: 1 round trip."""
    proof = api_client.require(get_tracking_domain)
    return screens.render(
        "brand/settings/tracking_domain.html",
        form,
        name=form if form and form.values else forms.prefill(trackingDomain=proof["domain"]),
        proof=proof,
        found_at=f"{_HERE}/found",
        can_change=api_client.is_allowed(change_tracking_domain),
    )


@blueprint.get(f"{_HERE}/found")
@screen("member", uses=(get_tracking_domain,))
def show_tracking_found() -> Response:
    """Show what was found alone. Budget: 2 round trips."""
    return screens.render_part(
        "brand/_domain_found.html", proof=api_client.require(get_tracking_domain), found_at=f"{_HERE}/found"
    )
