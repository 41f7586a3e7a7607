"""Coupons: the families of codes, and the codes, each with whom it credits, its uses and what it earned."""

from flask import Blueprint, Response, request

from api.affiliates.affiliates import list_affiliates
from api.coupons.campaign import create_campaign_coupon
from api.coupons.codes import create_affiliate_coupon, revoke_affiliate_coupon
from api.coupons.listing import list_coupon_codes, list_coupons_of_campaigns
from api.programs.programs import list_programs
from pages import calls, forms, screens
from pages.brand import choices
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("coupons_page", __name__)

_HERE = "/dashboard/coupons"
_USES = (
    list_affiliates,
    list_coupons_of_campaigns,
    list_coupon_codes,
    list_programs,
    create_affiliate_coupon,
    create_campaign_coupon,
    revoke_affiliate_coupon,
)
_FILTERS = ("programId", "status", "cursor")
_MOST = 200
_DONE = ("minted", "registered", "revoked", "deleted")


@blueprint.get(_HERE)
@screen("member", uses=_USES)
def show_coupons() -> Response:
    """Show coupons and codes by the filter in the address. Budget: 4 round trips, however many there are."""
    return _shown()


@blueprint.post(f"{_HERE}/codes")
@screen("member", uses=_USES)
def register_code() -> Response:
    """Register a code that was made elsewhere for the affiliate with an email."""
    affiliate_id = choices.affiliate(request.form.get("email", ""), request.form.get("programId"))
    if affiliate_id is None:
        return _shown(422, forms.wrong({"email": "No affiliate of this program has this email."}, form_id="code-"))
    body = {"code": request.form.get("code", "").strip() or None, "external": True}
    answer = calls.tried(create_affiliate_coupon, path={"affiliate_id": affiliate_id}, body=body, key=forms.key())
    if answer.refusal:
        return _shown(answer.status, forms.refused(answer.refusal, form_id="code-"))
    return screens.sent_on(f"{_HERE}?done=registered")


@blueprint.post(f"{_HERE}/codes/<affiliate_id>/<code_id>/revoke")
@screen("member", uses=_USES)
def revoke_code(affiliate_id: str, code_id: str) -> Response:
    """End a code."""
    answer = calls.tried(revoke_affiliate_coupon, path={"affiliate_id": affiliate_id, "code_id": code_id})
    if answer.refusal:
        return _shown(answer.status, forms.refused(answer.refusal))
    return screens.sent_on(f"{_HERE}?done=revoked")


def _shown(status: int = 200, form: FormState = forms.EMPTY) -> Response:
    programs = choices.programs()
    wanted = {name: request.args.get(name) or None for name in _FILTERS}
    codes = calls.call(list_coupon_codes, query=wanted)
    page = codes.data
    if codes.refusal is not None:
        status, form = codes.status, FormState(alert=" ".join(codes.refusal.fields.values()) or codes.refusal.message)
        page = {"items": [], "nextCursor": None}
    program_id = wanted["programId"] if wanted["programId"] in dict(programs) else None
    families = calls.needed(list_coupons_of_campaigns, query={"programId": program_id, "take": _MOST})["items"]
    return screens.show(
        "brand/coupons.html",
        status=status,
        form=form,
        here=_HERE,
        programs=programs,
        program_id=program_id,
        families=families,
        codes=page["items"],
        next_cursor=page["nextCursor"],
        is_narrowed=any(wanted.values()),
        sent=form if form.id == "code-" else forms.blank("code-", programId=program_id),
        done=request.args.get("done") if request.args.get("done") in _DONE else None,
        may_make=calls.may(create_campaign_coupon),
        may_give=calls.may(create_affiliate_coupon),
        may_revoke=calls.may(revoke_affiliate_coupon),
    )
