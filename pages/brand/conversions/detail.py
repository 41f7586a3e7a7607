"""One conversion: when it is payable, why it is credited and at which rate, what happened since, and what to decide."""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint, Response, request

from api.conversions.attribution import get_conversion_attribution
from api.conversions.conversions import get_conversion
from api.conversions.decisions import approve_conversion, deny_conversion, invalidate_conversion, validate_conversion
from api.payouts.payouts import get_payout
from domain.statuses import ConversionStatus
from pages import api_client, forms, screens
from pages.brand.conversions import corrections, why
from pages.form_pages import CustomForm, form_page, send_form
from pages.forms import FormState

blueprint = Blueprint("conversion_page", __name__)

_ACTS: Mapping[str, api_client.View] = {
    "approve": approve_conversion,
    "validate": validate_conversion,
    "invalidate": invalidate_conversion,
    "deny": deny_conversion,
}
# What can be decided about a conversion in each state, the gentlest first.
_OPEN: Mapping[str, Sequence[str]] = {
    ConversionStatus.Pending: ("approve", "invalidate", "deny"),
    ConversionStatus.Approved: ("invalidate", "deny"),
    ConversionStatus.Invalidated: ("validate",),
}


def _decide(conversion_id: str) -> Response | FormState:
    """Decide about it or correct its money, with the reason that was given."""
    action, path = request.form.get("action", ""), {"conversion_id": conversion_id}
    if action in corrections.ACTS:
        return corrections.send(action, conversion_id, api_client.require(get_conversion, path=path)["currency"])
    if action not in _ACTS:
        return forms.form_with_errors({}, "Say what to do with it.")
    body = {"reason": request.form.get("reason", "").strip() or None}
    return send_form(_ACTS[action], path=path, body=body, to="/dashboard/conversions/{conversion_id}")


@form_page(
    blueprint,
    "member",
    "/dashboard/conversions/<conversion_id>",
    CustomForm("", _decide, (*_ACTS.values(), *corrections.ACTS.values())),
    uses=(get_conversion, get_conversion_attribution, get_payout),
)
def show_conversion(form: FormState | None, conversion_id: str) -> Response:
    """Show one conversion. Budget: 7 round trips, two of them for its payout; two more for a share, for its sale."""
    form = form or forms.EMPTY
    path = {"conversion_id": conversion_id}
    conversion = api_client.require(get_conversion, path=path)
    credited = api_client.require(get_conversion_attribution, path=path)
    return screens.render(
        "brand/conversions/detail.html",
        form,
        refunding=form if form.id == "refund-" else forms.prefill("refund-"),
        adjusting=form if form.id == "adjust-" else forms.prefill("adjust-"),
        deciding=forms.EMPTY if form.id else form,
        one=conversion,
        credited=credited,
        steps=why.steps(credited["steps"]),
        beside=why.beside(credited["steps"]),
        payout=_payout(conversion),
        sale=_shared(conversion),
        corrections=corrections.of(conversion),
        acts=[name for name in _OPEN.get(conversion["status"], ()) if _may(name, conversion)],
    )


def _may(name: str, conversion: Mapping[str, Any]) -> bool:
    """Return whether an act is worth offering: locked history cannot be approved."""
    return api_client.is_allowed(_ACTS[name]) and not (name == "approve" and conversion["locked"])


def _shared(conversion: Mapping[str, Any]) -> Any:
    """Return the sale that a recruiter has a share of; None for every other conversion."""
    parent = conversion["parentAffiliateConversionId"]
    return api_client.require(get_conversion, path={"conversion_id": parent}) if parent else None


def _payout(conversion: Mapping[str, Any]) -> Any:
    if conversion["payoutId"] is None:
        return None
    return api_client.require(get_payout, path={"payout_id": conversion["payoutId"]}, query={"lineItems": "false"})
