"""A new family of codes: what it takes off, for how long, who may mint from it. It is made at the gateway as well."""

from typing import Any

from flask import Blueprint, Response, request

from api.coupons.campaign import create_campaign_coupon
from api.programs.programs import list_programs
from pages import form_values, forms, screens
from pages.brand import choices
from pages.brand.coupons import discounts
from pages.form_pages import Body, CustomForm, form_page, send_form
from pages.forms import FormState

blueprint = Blueprint("new_coupon_page", __name__)

_WHOLE = ("durationInMonths", "maxRedemptionsPerCode", "maxCodesPerAffiliate")


def _read_coupon() -> Body:
    texts = {name: text.strip() for name, text in request.form.items() if not name.startswith("_")}
    body: dict[str, Any] = {
        name: texts.get(name) or None for name in ("name", "discountType", "duration", "selfMintMode", "commissionType")
    }
    body |= {name: form_values.parse_number(texts.get(name, "")) for name in _WHOLE}
    body["expiresAt"] = discounts.expiry(texts)
    body["overridesClickAttribution"] = "overridesClickAttribution" in texts
    body["productRefs"] = texts.get("productRefs", "").split() or None
    if body["commissionType"]:
        body["commissionValue"] = form_values.parse_number(texts.get("commissionValue", ""))
    return body | discounts.discount(texts)


def _make_coupon() -> Response | FormState:
    """Make a coupon, here and at the gateway."""
    program_id = request.form.get("programId", "") or "-"
    to = "/dashboard/coupons/{program_id}/{id}?done=made"
    return send_form(create_campaign_coupon, path={"program_id": program_id}, body=_read_coupon(), to=to)


@form_page(
    blueprint,
    "member",
    "/dashboard/coupons/new",
    CustomForm("", _make_coupon, (create_campaign_coupon,)),
    uses=(list_programs,),
)
def ask_for_coupon(form: FormState | None) -> Response:
    """Show the form. Budget: 1 round trip."""
    form = form or forms.prefill(
        programId=request.args.get("programId"),
        discountType="PercentOff",
        duration="Once",
        selfMintMode="Disabled",
        overridesClickAttribution="on",
    )
    return screens.render("brand/coupon_new.html", form, programs=choices.programs())
