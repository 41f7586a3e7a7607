"""A new code without a coupon, minted at the brand's store or another gateway, with what it takes off."""

from typing import Any

from flask import Blueprint, Response, request

from api.affiliates.affiliates import list_affiliates
from api.coupons.codes import create_affiliate_coupon
from api.programs.programs import list_programs
from pages import calls, forms, screens, typed
from pages.brand import choices
from pages.brand.coupons import discounts
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("new_code_page", __name__)

_HERE = "/dashboard/coupons/codes/new"
_USES = (create_affiliate_coupon, list_affiliates, list_programs)


@blueprint.get(_HERE)
@screen("member", uses=_USES)
def show_code_form() -> Response:
    """Show the form. Budget: 1 round trip."""
    return _page(200, forms.blank(programId=request.args.get("programId"), discountType="PercentOff"))


@blueprint.post(_HERE)
@screen("member", uses=_USES)
def mint_code() -> Response:
    """Mint a code for the affiliate with an email."""
    affiliate_id = choices.affiliate(request.form.get("email", ""), request.form.get("programId"))
    if affiliate_id is None:
        return _page(422, forms.wrong({"email": "No affiliate of this program has this email."}))
    answer = calls.tried(create_affiliate_coupon, path={"affiliate_id": affiliate_id}, body=_body(), key=forms.key())
    if answer.refusal:
        return _page(answer.status, forms.refused(answer.refusal))
    return screens.sent_on("/dashboard/coupons?done=minted")


def _body() -> dict[str, Any]:
    form = {name: value.strip() for name, value in request.form.items() if not name.startswith("_")}
    return {
        "code": form.get("code") or None,
        "discountType": form.get("discountType") or None,
        "expiresAt": discounts.expiry(form),
        "maxRedemptions": typed.number(form.get("maxRedemptions", "")),
    } | discounts.discount(form)


def _page(status: int, form: FormState) -> Response:
    return screens.show(
        "brand/code_new.html",
        status=status,
        form=form,
        programs=choices.programs(),
        may_give=calls.may(create_affiliate_coupon),
    )
