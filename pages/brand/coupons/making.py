"""A new family of codes: what it takes off, for how long, who may mint from it. It is made at the gateway as well."""

from typing import Any

from flask import Blueprint, Response, request

from api.coupons.campaign import create_campaign_coupon
from api.programs.programs import list_programs
from pages import calls, forms, screens, typed
from pages.brand import choices
from pages.brand.coupons import discounts
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("new_coupon_page", __name__)

_HERE = "/dashboard/coupons/new"
_USES = (create_campaign_coupon, list_programs)
_WHOLE = ("durationInMonths", "maxRedemptionsPerCode", "maxCodesPerAffiliate")


@blueprint.get(_HERE)
@screen("member", uses=_USES)
def ask_for_coupon() -> Response:
    """Show the form. Budget: 1 round trip."""
    form = forms.blank(
        programId=request.args.get("programId"),
        discountType="PercentOff",
        duration="Once",
        selfMintMode="Disabled",
        overridesClickAttribution="on",
    )
    return _shown(200, form)


@blueprint.post(_HERE)
@screen("member", uses=_USES)
def make_coupon() -> Response:
    """Make a coupon, here and at the gateway."""
    program_id = request.form.get("programId", "")
    answer = calls.tried(create_campaign_coupon, path={"program_id": program_id or "-"}, body=_body(), key=forms.key())
    if answer.refusal:
        return _shown(answer.status, forms.refused(answer.refusal))
    return screens.sent_on(f"/dashboard/coupons/{program_id}/{answer.data['id']}?done=made")


def _body() -> dict[str, Any]:
    said = {name: found.strip() for name, found in request.form.items() if not name.startswith("_")}
    body: dict[str, Any] = {
        name: said.get(name) or None for name in ("name", "discountType", "duration", "selfMintMode", "commissionType")
    }
    body |= {name: typed.number(said.get(name, "")) for name in _WHOLE}
    body["expiresAt"] = discounts.expiry(said)
    body["overridesClickAttribution"] = "overridesClickAttribution" in said
    body["productRefs"] = said.get("productRefs", "").split() or None
    if body["commissionType"]:
        body["commissionValue"] = typed.number(said.get("commissionValue", ""))
    return body | discounts.discount(said)


def _shown(status: int, form: FormState) -> Response:
    return screens.show(
        "brand/coupon_new.html",
        status=status,
        form=form,
        programs=choices.programs(),
        may_make=calls.may(create_campaign_coupon),
    )
