"""Forms that create a coupon, and a code without a coupon, which the brand's store or another gateway honors.

A coupon is created at the gateway as well.
"""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from api.affiliates.affiliates import list_affiliates
from api.coupons.affiliate_coupons import create_affiliate_coupon
from api.coupons.coupons import create_campaign_coupon
from api.programs.programs import list_programs
from domain.money import currencies
from pages import form_values, forms, screens
from pages.brand import choices
from pages.form_pages import Body, CustomForm, form_page, send_form
from pages.forms import FormState
from pages.times import time_fields

blueprint = Blueprint("new_coupon_page", __name__)

_NUMBERS = ("durationInMonths", "maxRedemptionsPerCode", "maxCodesPerAffiliate")


def _read_discount(form: Mapping[str, str]) -> dict[str, Any]:
    """Return the discount for the body: a percentage, or an amount typed in major units of its currency."""
    value, currency = form.get("discountValue", ""), currencies.normalize(form.get("discountCurrency", ""))
    if form.get("discountType") != "AmountOff":
        return {"discountValue": form_values.parse_number(value)}
    if currency is None:
        return {"discountValue": 1, "discountCurrency": form.get("discountCurrency") or None}
    return {"discountValue": form_values.parse_amount(value, currency), "discountCurrency": currency}


def _read_expiry(form: Mapping[str, str]) -> str | None:
    """Return the end of the chosen day in the organization's time zone; None without one."""
    return time_fields.parse_day_end(form.get("expiresAt") or None)


def _read_coupon() -> Body:
    texts = {name: text.strip() for name, text in request.form.items() if not name.startswith("_")}
    body: dict[str, Any] = {
        name: texts.get(name) or None for name in ("name", "discountType", "duration", "selfMintMode", "commissionType")
    }
    body |= {name: form_values.parse_number(texts.get(name, "")) for name in _NUMBERS}
    body["expiresAt"] = _read_expiry(texts)
    body["overridesClickAttribution"] = "overridesClickAttribution" in texts
    body["productRefs"] = texts.get("productRefs", "").split() or None
    if body["commissionType"]:
        body["commissionValue"] = form_values.parse_number(texts.get("commissionValue", ""))
    return body | _read_discount(texts)


def _create_coupon() -> Response | FormState:
    """Create a coupon, here and at the gateway."""
    program_id = request.form.get("programId", "") or "-"
    to = "/dashboard/coupons/{program_id}/{id}?done=made"
    return send_form(create_campaign_coupon, path={"program_id": program_id}, body=_read_coupon(), to=to)


@form_page(
    blueprint,
    "member",
    "/dashboard/coupons/new",
    CustomForm("", _create_coupon, (create_campaign_coupon,)),
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
    return screens.render("brand/coupon_new.html", form, programs=choices.list_program_choices())


def _read_code() -> Body:
    form = {name: value.strip() for name, value in request.form.items() if not name.startswith("_")}
    return {
        "code": form.get("code") or None,
        "discountType": form.get("discountType") or None,
        "expiresAt": _read_expiry(form),
        "maxRedemptions": form_values.parse_number(form.get("maxRedemptions", "")),
    } | _read_discount(form)


def _mint_code() -> Response | FormState:
    """Create a code for the affiliate with the typed email."""
    return create_code(_read_code(), request.form.get("programId"), to="/dashboard/coupons?done=minted")


def create_code(body: Body, program_id: str | None, *, to: str, form_id: str = "") -> Response | FormState:
    """Create a code for the program's affiliate with the typed email."""
    affiliate_id = choices.find_affiliate_id(request.form.get("email", ""), program_id)
    if affiliate_id is None:
        return forms.form_with_errors({"email": choices.UNKNOWN_AFFILIATE}, form_id=form_id)
    return send_form(create_affiliate_coupon, path={"affiliate_id": affiliate_id}, body=body, to=to, form_id=form_id)


@form_page(
    blueprint,
    "member",
    "/dashboard/coupons/codes/new",
    CustomForm("", _mint_code, (create_affiliate_coupon,)),
    uses=(list_affiliates, list_programs),
)
def show_code_form(form: FormState | None) -> Response:
    """Show the form. Budget: 1 round trip."""
    form = form or forms.prefill(programId=request.args.get("programId"), discountType="PercentOff")
    return screens.render("brand/code_new.html", form, programs=choices.list_program_choices())
