"""One family of codes: its terms, who may mint from it, its codes, giving one out, and its end."""

from flask import Blueprint, Response, request

from api.affiliates.affiliates import list_affiliates
from api.coupons.campaign import (
    archive_campaign_coupon,
    change_campaign_coupon,
    delete_campaign_coupon,
    get_campaign_coupon,
)
from api.coupons.codes import create_affiliate_coupon
from api.coupons.listing import list_coupon_codes
from api.programs.programs import get_program
from pages import calls, forms, screens, typed
from pages.brand import choices
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("coupon_page", __name__)

_HERE = "/dashboard/coupons/<program_id>/<coupon_id>"
_USES = (
    archive_campaign_coupon,
    change_campaign_coupon,
    create_affiliate_coupon,
    delete_campaign_coupon,
    get_campaign_coupon,
    get_program,
    list_affiliates,
    list_coupon_codes,
)
_DONE = ("made", "changed", "given", "archived")


@blueprint.get(_HERE)
@screen("member", uses=_USES)
def show_coupon(program_id: str, coupon_id: str) -> Response:
    """Show a coupon with its newest codes. Budget: 4 round trips, however many there are."""
    return _shown(program_id, coupon_id)


@blueprint.post(f"{_HERE}/change")
@screen("member", uses=_USES)
def change_coupon(program_id: str, coupon_id: str) -> Response:
    """Change a coupon's name, who may mint from it and how many, and whether it wins over clicks."""
    body = {
        "name": request.form.get("name", ""),
        "selfMintMode": request.form.get("selfMintMode") or None,
        "maxCodesPerAffiliate": typed.number(request.form.get("maxCodesPerAffiliate", "")),
        "overridesClickAttribution": "overridesClickAttribution" in request.form,
    }
    answer = calls.tried(change_campaign_coupon, path=_path(program_id, coupon_id), body=body, key=forms.key())
    return _answered(program_id, coupon_id, answer, "changed", "change-")


@blueprint.post(f"{_HERE}/codes")
@screen("member", uses=_USES)
def give_code(program_id: str, coupon_id: str) -> Response:
    """Mint a code of the coupon for the affiliate with an email."""
    affiliate_id = choices.affiliate(request.form.get("email", ""), program_id)
    if affiliate_id is None:
        form = forms.wrong({"email": "No affiliate of this program has this email."}, form_id="code-")
        return _shown(program_id, coupon_id, status=422, form=form)
    body = {"campaignCouponId": coupon_id, "code": request.form.get("code", "").strip() or None}
    answer = calls.tried(create_affiliate_coupon, path={"affiliate_id": affiliate_id}, body=body, key=forms.key())
    return _answered(program_id, coupon_id, answer, "given", "code-")


@blueprint.post(f"{_HERE}/archive")
@screen("member", uses=_USES)
def archive_coupon(program_id: str, coupon_id: str) -> Response:
    """End a coupon and all its codes."""
    answer = calls.tried(archive_campaign_coupon, path=_path(program_id, coupon_id), key=forms.key())
    return _answered(program_id, coupon_id, answer, "archived", "")


@blueprint.post(f"{_HERE}/delete")
@screen("member", uses=_USES)
def delete_coupon(program_id: str, coupon_id: str) -> Response:
    """Delete a coupon that never had a code."""
    answer = calls.tried(delete_campaign_coupon, path=_path(program_id, coupon_id))
    if answer.refusal:
        return _shown(program_id, coupon_id, status=answer.status, form=forms.refused(answer.refusal))
    return screens.sent_on("/dashboard/coupons?done=deleted")


def _path(program_id: str, coupon_id: str) -> dict[str, str]:
    return {"program_id": program_id, "coupon_id": coupon_id}


def _answered(program_id: str, coupon_id: str, answer: calls.CallAnswer, done: str, form_id: str) -> Response:
    if answer.refusal:
        form = forms.refused(answer.refusal, form_id=form_id)
        return _shown(program_id, coupon_id, status=answer.status, form=form)
    return screens.sent_on(f"/dashboard/coupons/{program_id}/{coupon_id}?done={done}")


def _shown(program_id: str, coupon_id: str, *, status: int = 200, form: FormState = forms.EMPTY) -> Response:
    coupon = calls.needed(get_campaign_coupon, path=_path(program_id, coupon_id))
    codes = calls.needed(list_coupon_codes, query={"couponId": coupon["id"], "take": 200})
    held = forms.blank(
        "change-",
        name=coupon["name"],
        selfMintMode=coupon["selfMintMode"],
        maxCodesPerAffiliate=coupon["maxCodesPerAffiliate"],
        overridesClickAttribution="on" if coupon["overridesClickAttribution"] else None,
    )
    return screens.show(
        "brand/coupon.html",
        status=status,
        form=form,
        here=f"/dashboard/coupons/{coupon['programId']}/{coupon['id']}",
        coupon=coupon,
        program=calls.needed(get_program, path={"program_id": coupon["programId"]}),
        codes=codes["items"],
        has_more=codes["hasMore"],
        change=form if form.id == "change-" else held,
        give=form if form.id == "code-" else forms.blank("code-"),
        done=request.args.get("done") if request.args.get("done") in _DONE else None,
        may_change=calls.may(change_campaign_coupon) and coupon["isActive"],
        may_give=calls.may(create_affiliate_coupon) and coupon["isActive"],
        may_end=calls.may(archive_campaign_coupon) and coupon["archivedAt"] is None,
    )
