"""What one changes of an affiliate: name, tags and notes, rate and group, links, standing, and the bonus one gives."""

from typing import Any

from flask import Blueprint, Response, request

from api.affiliates.affiliates import change_affiliate, get_affiliate
from api.affiliates.decisions import approve_affiliate, reject_affiliate
from api.affiliates.links import create_affiliate_link, delete_affiliate_link
from api.conversions.manual import create_conversion
from domain.money import currencies
from domain.refused import Refused
from pages import calls, forms, screens, typed
from pages.brand.affiliates import profile
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("affiliate_changes_page", __name__)

_HERE = "/dashboard/affiliates/<affiliate_id>"
_RATE_NAMES = {"customCommissionType": "type", "customCommissionValue": "value"}
_BONUS_NAMES = {"commissionCents": "amount"}
# What a button does to somebody's standing: the status that it sets.
_STATUS_AFTER = {"pause": "Paused", "resume": "Approved"}


@blueprint.post(f"{_HERE}/about")
@screen("member", uses=profile.USES)
def change_about(affiliate_id: str) -> Response:
    """Change an affiliate's name, tags and notes."""
    tags = [tag.strip() for tag in request.form.get("tags", "").split(",") if tag.strip()]
    body = {"fullName": request.form.get("fullName", ""), "tags": tags, "notes": request.form.get("notes", "")}
    return _changed(affiliate_id, body, "about")


@blueprint.post(f"{_HERE}/rate")
@screen("member", uses=profile.USES)
def change_rate(affiliate_id: str) -> Response:
    """Change an affiliate's own rate and their group."""
    kind = request.form.get("type") or None
    body: dict[str, Any] = {
        "customCommissionType": kind,
        "customCommissionValue": typed.number(request.form.get("value", "")) if kind else None,
        "partnerGroupId": request.form.get("partnerGroupId") or None,
    }
    return _changed(affiliate_id, body, "rate")


def _changed(affiliate_id: str, body: dict[str, Any], what: str) -> Response:
    answer = calls.tried(change_affiliate, path={"affiliate_id": affiliate_id}, body=body, key=forms.key())
    if answer.refusal:
        return profile.shown(
            affiliate_id, status=answer.status, form=forms.refused(answer.refusal, _RATE_NAMES, f"{what}-")
        )
    return _back(affiliate_id, what)


@blueprint.post(f"{_HERE}/standing")
@screen("member", uses=profile.USES)
def change_standing(affiliate_id: str) -> Response:
    """Approve or reject who applied, pause who is in, let a paused or banned one in again."""
    act, path = request.form.get("act", ""), {"affiliate_id": affiliate_id}
    if act == "approve":
        answer = calls.tried(approve_affiliate, path=path, body={}, key=forms.key())
    elif act == "reject":
        reason = {"reason": request.form.get("reason") or None}
        answer = calls.tried(reject_affiliate, path=path, body=reason, key=forms.key())
    elif act in _STATUS_AFTER:
        answer = calls.tried(change_affiliate, path=path, body={"status": _STATUS_AFTER[act]}, key=forms.key())
    else:
        raise Refused(404, "not_found", "There is no such act.")
    if answer.refusal:
        return profile.shown(
            affiliate_id, status=answer.status, form=forms.refused(answer.refusal, form_id="standing-")
        )
    return _back(affiliate_id, act)


@blueprint.post(f"{_HERE}/links")
@screen("member", uses=profile.USES)
def add_link(affiliate_id: str) -> Response:
    """Give an affiliate one more link."""
    body = {"customAlias": request.form.get("customAlias") or None, "format": request.form.get("format") or None}
    answer = calls.tried(create_affiliate_link, path={"affiliate_id": affiliate_id}, body=body, key=forms.key())
    if answer.refusal:
        return profile.shown(affiliate_id, status=answer.status, form=forms.refused(answer.refusal, form_id="link-"))
    return _back(affiliate_id, "link")


@blueprint.post(f"{_HERE}/links/<link_id>/remove")
@screen("member", uses=profile.USES)
def remove_link(affiliate_id: str, link_id: str) -> Response:
    """End a link."""
    answer = calls.tried(delete_affiliate_link, path={"affiliate_id": affiliate_id, "link_id": link_id})
    if answer.refusal:
        return profile.shown(affiliate_id, status=answer.status, form=forms.refused(answer.refusal, form_id="link-"))
    return _back(affiliate_id, "unlink")


@blueprint.post(f"{_HERE}/bonus")
@screen("member", uses=profile.USES)
def give_bonus(affiliate_id: str) -> Response:
    """Give an affiliate a bonus: money that no sale brought."""
    affiliate = calls.needed(get_affiliate, path={"affiliate_id": affiliate_id})
    currency = currencies.normalize(request.form.get("currency", ""))
    if currency is None:
        return _unpaid(affiliate_id, 422, forms.wrong({"currency": "Three letters, such as USD."}, form_id="bonus-"))
    body = {
        "kind": "bonus",
        "programId": affiliate["programId"],
        "affiliateId": affiliate["id"],
        "commissionCents": typed.minor(request.form.get("amount", ""), currency),
        "currency": currency,
        "note": request.form.get("note") or None,
    }
    answer = calls.tried(create_conversion, body=body, key=forms.key())
    if answer.refusal:
        return _unpaid(affiliate_id, answer.status, forms.refused(answer.refusal, _BONUS_NAMES, "bonus-"))
    return _back(affiliate_id, "bonus")


def _unpaid(affiliate_id: str, status: int, form: FormState) -> Response:
    return profile.shown(affiliate_id, status=status, form=form)


def _back(affiliate_id: str, done: str) -> Response:
    return screens.sent_on(f"/dashboard/affiliates/{affiliate_id}?done={done}")
