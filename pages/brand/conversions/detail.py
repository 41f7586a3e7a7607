"""One conversion: when it is payable, its attribution and rate, its history, and the decisions about it."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from api.conversions.attribution import get_conversion_attribution
from api.conversions.conversions import get_conversion
from api.payouts.payouts import get_payout
from pages import api_client, forms, screens
from pages.brand.conversions import attribution_methods, attribution_steps, corrections, decisions
from pages.form_pages import CustomForm, form_page, send_form
from pages.forms import FormState

blueprint = Blueprint("conversion_page", __name__)


def _decide(conversion_id: str) -> Response | FormState:
    """Decide about a conversion or correct its money, with the typed reason."""
    action, path = request.form.get("action", ""), {"conversion_id": conversion_id}
    if action in corrections.ACTS:
        return corrections.send_correction(
            action, conversion_id, api_client.require(get_conversion, path=path)["currency"]
        )
    if action not in decisions.OPERATIONS:
        return forms.form_with_errors({}, "Choose what to do.")
    body = {"reason": request.form.get("reason", "").strip() or None}
    return send_form(decisions.OPERATIONS[action], path=path, body=body, to="/dashboard/conversions/{conversion_id}")


@form_page(
    blueprint,
    "member",
    "/dashboard/conversions/<conversion_id>",
    CustomForm("", _decide, (*decisions.OPERATIONS.values(), *corrections.ACTS.values())),
    uses=(get_conversion, get_conversion_attribution, get_payout),
)
def show_conversion(form: FormState | None, conversion_id: str) -> Response:
    """Show one conversion. Budget: 7 round trips, two of them for its payout; two more for a share, for its sale."""
    form = form or forms.EMPTY
    path = {"conversion_id": conversion_id}
    conversion = api_client.require(get_conversion, path=path)
    attribution = api_client.require(get_conversion_attribution, path=path)
    return screens.render(
        "brand/conversions/detail.html",
        form,
        refunding=form if form.id == "refund-" else forms.prefill("refund-"),
        adjusting=form if form.id == "adjust-" else forms.prefill("adjust-"),
        deciding=forms.EMPTY if form.id else form,
        one=conversion,
        source=attribution_methods.describe_method(conversion["attributionMethod"]),
        credited=attribution,
        steps=attribution_steps.describe_steps(attribution["steps"]),
        beside=attribution_steps.describe_other_source(attribution["steps"]),
        payout=_find_payout(conversion),
        sale=_find_parent_sale(conversion),
        corrections=corrections.find_corrections(conversion),
        acts=decisions.list_decisions(conversion),
    )


def _find_parent_sale(conversion: Mapping[str, Any]) -> Any:
    """Return the sale of a recruiter's share; None for every other conversion."""
    parent = conversion["parentAffiliateConversionId"]
    return api_client.require(get_conversion, path={"conversion_id": parent}) if parent else None


def _find_payout(conversion: Mapping[str, Any]) -> Any:
    if conversion["payoutId"] is None:
        return None
    return api_client.require(get_payout, path={"payout_id": conversion["payoutId"]}, query={"lineItems": "false"})
