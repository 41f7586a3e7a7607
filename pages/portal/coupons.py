"""An affiliate's codes: how often each was redeemed, new ones, and ending one."""

from flask import Blueprint, Response, request

from api.coupons.own import delete_own_coupon, list_mintable_coupons, list_own_coupons, mint_own_coupon
from pages import calls, forms, screens
from pages.forms import FormState
from pages.portal import frame
from pages.screens import screen

blueprint = Blueprint("portal_coupons_page", __name__)

_HERE = "/portal/coupons"
_USES = (*frame.USES, list_own_coupons, list_mintable_coupons, mint_own_coupon, delete_own_coupon)


@blueprint.get(_HERE)
@screen("account", uses=_USES)
def show_coupons() -> Response:
    """Show codes, and what new ones can be minted from. Budget: 3 round trips, however many there are."""
    return _shown(forms.EMPTY)


@blueprint.post(_HERE)
@screen("account", uses=_USES)
def mint_coupon() -> Response:
    """Mint a code; without a text of one's own it is drawn."""
    body = {"campaignCouponId": request.form.get("campaignCouponId", "")}
    if code := request.form.get("code", "").strip().upper():
        body["code"] = code
    answer = calls.call(mint_own_coupon, body=body, key=forms.key())
    if answer.refusal is not None:
        return _shown(forms.refused(answer.refusal), status=frame.status(answer))
    return screens.sent_on(_HERE)


@blueprint.post(f"{_HERE}/<code_id>/delete")
@screen("account", uses=_USES)
def end_coupon(code_id: str) -> Response:
    """End a code here and where it was minted."""
    answer = calls.tried(delete_own_coupon, path={"code_id": code_id})
    if answer.refusal is not None:
        return _shown(forms.refused(answer.refusal), status=frame.status(answer))
    return screens.sent_on(_HERE)


def _shown(form: FormState, *, status: int = 200) -> Response:
    page = calls.needed(list_own_coupons, query={"cursor": request.args.get("cursor") or None})
    return frame.show(
        "coupons.html",
        status=status,
        form=form,
        here=_HERE,
        codes=page["items"],
        next_cursor=page["nextCursor"],
        mintable=calls.needed(list_mintable_coupons),
    )
