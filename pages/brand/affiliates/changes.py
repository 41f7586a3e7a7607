"""What one changes of an affiliate: name, tags and notes, rate and group, links, standing, and the bonus one gives."""

from flask import Response, request

from api.affiliates.affiliates import change_affiliate, get_affiliate
from api.affiliates.decisions import approve_affiliate, reject_affiliate
from api.affiliates.links import create_affiliate_link, delete_affiliate_link
from api.conversions.manual import create_conversion
from domain.money import currencies
from domain.refused import Refused
from pages import api_client, form_values, forms
from pages.api_client import View
from pages.form_pages import Body, CustomForm, Form, send_form
from pages.forms import FormState

_PAGE = "/dashboard/affiliates/{affiliate_id}"
# The status that each button sets.
_STATUS_AFTER = {"pause": "Paused", "resume": "Approved"}


def _read_about() -> Body:
    tags = [tag.strip() for tag in request.form.get("tags", "").split(",") if tag.strip()]
    return {"fullName": request.form.get("fullName", ""), "tags": tags, "notes": request.form.get("notes", "")}


def _read_rate() -> Body:
    kind = request.form.get("type") or None
    return {
        "customCommissionType": kind,
        "customCommissionValue": form_values.parse_number(request.form.get("value", "")) if kind else None,
        "partnerGroupId": request.form.get("partnerGroupId") or None,
    }


def _read_link() -> Body:
    return {name: request.form.get(name) or None for name in ("customAlias", "format")}


def _change_standing(affiliate_id: str) -> Response | FormState:
    """Approve or reject who applied, pause who is in, let a paused or banned one in again."""
    act, body = request.form.get("act", ""), None
    operation: View
    if act == "approve":
        operation = approve_affiliate
    elif act == "reject":
        operation, body = reject_affiliate, {"reason": request.form.get("reason") or None}
    elif act in _STATUS_AFTER:
        operation, body = change_affiliate, {"status": _STATUS_AFTER[act]}
    else:
        raise Refused(404, "not_found", "There is no such act.")
    to = f"{_PAGE}?done={act}"
    return send_form(operation, path={"affiliate_id": affiliate_id}, body=body, to=to, form_id="standing-")


def _give_bonus(affiliate_id: str) -> Response | FormState:
    """Give an affiliate a bonus: money that no sale brought."""
    affiliate = api_client.require(get_affiliate, path={"affiliate_id": affiliate_id})
    currency = currencies.normalize(request.form.get("currency", ""))
    if currency is None:
        return forms.form_with_errors({"currency": "Three letters, such as USD."}, form_id="bonus-")
    body = {
        "kind": "bonus",
        "programId": affiliate["programId"],
        "affiliateId": affiliate["id"],
        "commissionCents": form_values.parse_amount(request.form.get("amount", ""), currency),
        "currency": currency,
        "note": request.form.get("note") or None,
    }
    to = f"/dashboard/affiliates/{affiliate_id}?done=bonus"
    return send_form(create_conversion, body=body, to=to, names={"commissionCents": "amount"}, form_id="bonus-")


_RATE_NAMES = {"customCommissionType": "type", "customCommissionValue": "value"}
#: The forms of an affiliate's page.
FORMS = (
    Form("/about", change_affiliate, _read_about, names=_RATE_NAMES, id="about-", done="about"),
    Form("/rate", change_affiliate, _read_rate, names=_RATE_NAMES, id="rate-", done="rate"),
    CustomForm("/standing", _change_standing, (approve_affiliate, reject_affiliate, change_affiliate)),
    Form("/links", create_affiliate_link, _read_link, id="link-", done="link"),
    Form("/links/<link_id>/remove", delete_affiliate_link, id="link-", done="unlink"),
    CustomForm("/bonus", _give_bonus, (create_conversion,)),
)
