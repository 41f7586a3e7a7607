"""An affiliate's codes: the uses of each, minting new ones, and deleting one."""

from flask import Blueprint, Response, request

from api.coupons.own_coupons import delete_own_coupon, list_mintable_coupons, list_own_coupons, mint_own_coupon
from pages import api_client
from pages.form_pages import Body, Form, form_page
from pages.forms import FormState
from pages.list_pages import RowList
from pages.portal import frame

blueprint = Blueprint("portal_coupons_page", __name__)

_CODES = RowList(list_own_coupons)


def _read_code() -> Body:
    """Return the code to mint; without a typed text the API generates one."""
    code = request.form.get("code", "").strip().upper()
    return {"campaignCouponId": request.form.get("campaignCouponId", "")} | ({"code": code} if code else {})


_FORMS = (
    Form("", mint_own_coupon, _read_code, shows_all=True),
    Form("/<code_id>/delete", delete_own_coupon),
)


@form_page(
    blueprint, "account", "/portal/coupons", *_FORMS, uses=(*frame.USES, list_own_coupons, list_mintable_coupons)
)
def show_coupons(form: FormState | None) -> Response:
    """Show codes, and the coupons from which new ones can be minted. Budget: 3 round trips, however many there are."""
    codes = _CODES.require().values(form)
    return frame.render("coupons.html", **codes, mintable=api_client.require(list_mintable_coupons))
