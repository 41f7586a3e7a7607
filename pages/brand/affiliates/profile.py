"""One affiliate: balances, results, terms, links and recruits; the forms that change them; the ban and the tax form.

The ban and the tax form have pages of their own: the ban is destructive, and reading a tax form is audited.
"""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from api.affiliates.affiliates import change_affiliate, get_affiliate
from api.affiliates.balance import get_affiliate_balance
from api.affiliates.decisions import approve_affiliate, reject_affiliate
from api.affiliates.links import create_affiliate_link, delete_affiliate_link
from api.affiliates.sub_affiliates import list_sub_affiliates
from api.affiliates.tax_forms import get_tax_form
from api.conversions.manual import create_conversion
from api.coupons.affiliate_coupons import list_affiliate_coupons
from api.embed.tokens import create_embed_token
from api.fraud import ban_affiliate
from api.organization.organization import get_organization
from api.programs.daily import get_daily_numbers
from api.programs.partner_groups import list_partner_groups
from api.programs.programs import get_program
from domain.money import currencies
from domain.refusals import Refused
from pages import api_client, form_values, forms, screens
from pages.api_client import View
from pages.brand import choices
from pages.form_pages import Body, CustomForm, Form, form_page, send_form
from pages.forms import FormState

blueprint = Blueprint("affiliate_page", __name__)

_PATH = "/dashboard/affiliates/<affiliate_id>"
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


def _change_status(affiliate_id: str) -> Response | FormState:
    """Approve or reject an applicant, pause an affiliate, or resume a paused or banned one."""
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
    """Give an affiliate a bonus, a commission without a sale."""
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
_FORMS = (
    Form("/about", change_affiliate, _read_about, names=_RATE_NAMES, id="about-", done="about"),
    Form("/rate", change_affiliate, _read_rate, names=_RATE_NAMES, id="rate-", done="rate"),
    CustomForm("/standing", _change_status, (approve_affiliate, reject_affiliate, change_affiliate)),
    Form("/links", create_affiliate_link, _read_link, id="link-", done="link"),
    Form("/links/<link_id>/remove", delete_affiliate_link, id="link-", done="unlink"),
    CustomForm("/bonus", _give_bonus, (create_conversion,)),
)


_USES = (
    get_affiliate,
    get_affiliate_balance,
    get_daily_numbers,
    get_organization,
    get_program,
    get_tax_form,
    list_affiliate_coupons,
    list_partner_groups,
    list_sub_affiliates,
    ban_affiliate,
    create_embed_token,
)


@form_page(blueprint, "member", _PATH, *_FORMS, uses=_USES)
def show_affiliate(form: FormState | None, affiliate_id: str) -> Response:
    """Show an affiliate. Budget: 15 round trips, however much they sold."""
    path = {"affiliate_id": affiliate_id}
    affiliate = api_client.require(get_affiliate, path=path)
    of_program = {"program_id": affiliate["programId"]}
    program = api_client.require(get_program, path=of_program)
    days = api_client.require(get_daily_numbers, query={"affiliateId": affiliate["id"]})["days"]
    return screens.render(
        "brand/affiliate.html",
        form,
        affiliate=affiliate,
        name=affiliate["fullName"] or affiliate["email"],
        balances=api_client.require(get_affiliate_balance, path=path)["balances"],
        month=_sum_month(days),
        program=program,
        questions=choices.application_questions(program),
        groups=[(group["id"], group["name"]) for group in api_client.require(list_partner_groups, path=of_program)],
        codes=api_client.require(list_affiliate_coupons, path=path)["items"]
        if api_client.is_allowed(list_affiliate_coupons)
        else None,
        recruits=api_client.require(list_sub_affiliates, path=path),
        sent=_fill_forms(affiliate, form),
        may_give=api_client.is_allowed(create_conversion)
        and affiliate["status"] == "Approved"
        and not affiliate["isTest"],
    )


def _fill_forms(affiliate: Mapping[str, Any], form: FormState | None) -> Mapping[str, FormState]:
    """Return the forms of the page with the current values, and a refused one as it was sent."""
    filled = {
        "about": forms.prefill(
            "about-", fullName=affiliate["fullName"], tags=", ".join(affiliate["tags"]), notes=affiliate["notes"]
        ),
        "rate": forms.prefill(
            "rate-",
            type=affiliate["customCommissionType"] or "",
            value=affiliate["customCommissionValue"],
            partnerGroupId=affiliate["partnerGroupId"] or "",
        ),
        "link": forms.prefill("link-", format="Short"),
        "bonus": forms.prefill("bonus-", currency=api_client.require(get_organization)["homeCurrency"]),
    }
    return filled | ({form.id.rstrip("-"): form} if form and form.id else {})


def _sum_month(days: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    earned: dict[str, int] = {}
    for day in days:
        for currency, cents in day["commissionByCurrency"].items():
            earned[currency] = earned.get(currency, 0) + cents
    return {name: sum(day[name] for day in days) for name in ("clicks", "leads", "sales")} | {"earned": earned}


_BAN = Form("", ban_affiliate, to=f"{_PAGE}?done=ban")


@form_page(blueprint, "member", f"{_PATH}/ban", _BAN, uses=(get_affiliate,))
def ask_for_ban(form: FormState | None, affiliate_id: str) -> Response:
    """Show the effects of a ban before it is done. Budget: 3 round trips."""
    affiliate = api_client.require(get_affiliate, path={"affiliate_id": affiliate_id})
    return screens.render("brand/affiliate_ban.html", form, affiliate=affiliate)


def _read_tax_form(affiliate_id: str) -> Response:
    """Show the tax form of an affiliate, with a link that opens it for five minutes."""
    affiliate = api_client.require(get_affiliate, path={"affiliate_id": affiliate_id})
    answer = api_client.call(get_tax_form, path={"affiliate_id": affiliate_id})
    if answer.status != 404:
        api_client.require_data(answer)
    return screens.render("brand/affiliate_tax_form.html", affiliate=affiliate, found=answer.data or {})


@form_page(
    blueprint, "member", f"{_PATH}/tax-form", CustomForm("", _read_tax_form, (get_tax_form,)), uses=(get_affiliate,)
)
def ask_for_tax_form(form: FormState | None, affiliate_id: str) -> Response:
    """Show that reading a tax form is audited, before it is read. Budget: 3 round trips."""
    affiliate = api_client.require(get_affiliate, path={"affiliate_id": affiliate_id})
    return screens.render("brand/affiliate_tax_form.html", form, affiliate=affiliate, found=None)
