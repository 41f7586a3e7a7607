"""The tracking domain: what to set up in DNS, what was found there, and a look at once."""

from flask import Blueprint, Response, request

from api.organization.tracking_domain import change_tracking_domain, check_tracking_domain, get_tracking_domain
from pages import calls, forms, fragments, screens, typed
from pages.brand import looks
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("tracking_domain_page", __name__)

_HERE = "/dashboard/settings/tracking-domain"
_USES = (get_tracking_domain, change_tracking_domain, check_tracking_domain)


@blueprint.get(_HERE)
@screen("member", uses=_USES)
def show_tracking_domain() -> Response:
    """Show the domain, and the records that prove it. Budget: 1 round trip."""
    return _show()


@blueprint.post(_HERE)
@screen("member", uses=_USES)
def set_tracking_domain() -> Response:
    """Set another domain, or none."""
    body = {"trackingDomain": typed.host(request.form.get("trackingDomain", ""))}
    answer = calls.tried(change_tracking_domain, body=body, key=forms.key())
    if answer.refusal is not None:
        return _show(forms.refused(answer.refusal), answer.status)
    return screens.sent_on(_HERE)


@blueprint.post(f"{_HERE}/check")
@screen("member", uses=_USES)
def look_at_tracking_domain() -> Response:
    """Ask DNS now."""
    answer = calls.call(check_tracking_domain, key=forms.key())
    if answer.refusal is None:
        return screens.sent_on(f"{_HERE}#found")
    return _show(looks.refused(answer), answer.status)


@blueprint.get(f"{_HERE}/found")
@screen("member", uses=(get_tracking_domain,))
def show_tracking_found() -> Response:
    """Show what was found alone. Budget: 2 round trips."""
    return fragments.show(
        "brand/_domain_found.html", proof=calls.needed(get_tracking_domain), found_at=f"{_HERE}/found"
    )


def _show(form: FormState | None = None, status: int = 200) -> Response:
    proof = calls.needed(get_tracking_domain)
    return screens.show(
        "brand/settings/tracking_domain.html",
        status=status,
        form=form or forms.EMPTY,
        here=_HERE,
        name=form if form and form.values else forms.blank(trackingDomain=proof["domain"]),
        proof=proof,
        found_at=f"{_HERE}/found",
        can_change=calls.may(change_tracking_domain),
    )
