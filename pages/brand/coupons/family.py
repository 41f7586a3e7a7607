"""One coupon: its terms, who may mint codes, its codes, minting one for an affiliate, and its end."""

from flask import Blueprint, Response, request

from api.affiliates.affiliates import list_affiliates
from api.coupons.affiliate_coupons import create_affiliate_coupon
from api.coupons.coupons import (
    archive_campaign_coupon,
    change_campaign_coupon,
    delete_campaign_coupon,
    get_campaign_coupon,
)
from api.coupons.lists import list_coupon_codes
from api.programs.programs import get_program
from pages import api_client, form_values, forms, screens
from pages.brand.coupons import new_coupons
from pages.form_pages import Body, CustomForm, Form, form_page
from pages.forms import FormState

blueprint = Blueprint("coupon_page", __name__)

_HERE = "/dashboard/coupons/<program_id>/<coupon_id>"


def _read_coupon() -> Body:
    """Return a coupon's name, its rules for minting, and whether it overrides clicks."""
    return {
        "name": request.form.get("name", ""),
        "selfMintMode": request.form.get("selfMintMode") or None,
        "maxCodesPerAffiliate": form_values.parse_number(request.form.get("maxCodesPerAffiliate", "")),
        "overridesClickAttribution": "overridesClickAttribution" in request.form,
    }


def _mint_code(program_id: str, coupon_id: str) -> Response | FormState:
    """Mint a code of the coupon for the affiliate with the typed email."""
    body = {"campaignCouponId": coupon_id, "code": request.form.get("code", "").strip() or None}
    to = f"/dashboard/coupons/{program_id}/{coupon_id}?done=given"
    return new_coupons.create_code(body, program_id, to=to, form_id="code-")


_FORMS = (
    Form("/change", change_campaign_coupon, _read_coupon, id="change-", done="changed"),
    CustomForm("/codes", _mint_code, (create_affiliate_coupon,)),
    Form("/archive", archive_campaign_coupon, done="archived"),
    Form("/delete", delete_campaign_coupon, to="/dashboard/coupons", done="deleted"),
)


@form_page(
    blueprint, "member", _HERE, *_FORMS, uses=(get_campaign_coupon, get_program, list_affiliates, list_coupon_codes)
)
def show_coupon(form: FormState | None, program_id: str, coupon_id: str) -> Response:
    """Show a coupon with its newest codes. Budget: 4 round trips, however many there are."""
    path = {"program_id": program_id, "coupon_id": coupon_id}
    coupon = api_client.require(get_campaign_coupon, path=path)
    codes = api_client.require(list_coupon_codes, query={"couponId": coupon["id"], "take": 200})
    filled = forms.prefill(
        "change-",
        name=coupon["name"],
        selfMintMode=coupon["selfMintMode"],
        maxCodesPerAffiliate=coupon["maxCodesPerAffiliate"],
        overridesClickAttribution="on" if coupon["overridesClickAttribution"] else None,
    )
    return screens.render(
        "brand/coupon.html",
        form,
        coupon=coupon,
        program=api_client.require(get_program, path={"program_id": coupon["programId"]}),
        codes=codes["items"],
        has_more=codes["hasMore"],
        change=form if form and form.id == "change-" else filled,
        give=form if form and form.id == "code-" else forms.prefill("code-"),
    )
