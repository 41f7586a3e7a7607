"""The settings of one affiliate: name and tags, commission and group, and a bonus.

The ban and the tax form have pages of their own (`restricted`).
"""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from api.affiliates.affiliates import change_affiliate, get_affiliate
from api.affiliates.tax_forms import get_tax_form
from api.conversions.manual import create_conversion
from api.embed.tokens import create_embed_token
from api.fraud import ban_affiliate
from api.organization.organization import get_organization
from api.programs.partner_groups import list_partner_groups
from domain.money import currencies
from pages import api_client, form_values, forms, screens
from pages.brand.affiliates.profile import PAGE, PATH, head_values
from pages.form_pages import Body, CustomForm, Form, form_page, send_form
from pages.forms import FormState

blueprint = Blueprint("affiliate_settings_page", __name__)


def _read_profile() -> Body:
    tags = [tag.strip() for tag in request.form.get("tags", "").split(",") if tag.strip()]
    return {"fullName": request.form.get("fullName", ""), "tags": tags}


def _read_rate() -> Body:
    kind = request.form.get("type") or None
    return {
        "customCommissionType": kind,
        "customCommissionValue": form_values.parse_number(request.form.get("value", "")) if kind else None,
        "partnerGroupId": request.form.get("partnerGroupId") or None,
    }


def _give_bonus(affiliate_id: str) -> Response | FormState:
    """Give an affiliate a bonus, a commission without a sale."""
    affiliate = api_client.require(get_affiliate, path={"affiliate_id": affiliate_id})
    currency = currencies.normalize(request.form.get("currency", ""))
    if currency is None:
        return forms.form_with_errors({"currency": "Enter three letters, such as USD."}, form_id="bonus-")
    body = {
        "kind": "bonus",
        "programId": affiliate["programId"],
        "affiliateId": affiliate["id"],
        "commissionCents": form_values.parse_amount(request.form.get("amount", ""), currency),
        "currency": currency,
        "note": request.form.get("note") or None,
    }
    to = f"{PAGE.format(affiliate_id=affiliate_id)}/settings?done=bonus"
    return send_form(create_conversion, body=body, to=to, names={"commissionCents": "amount"}, form_id="bonus-")


_RATE_NAMES = {"customCommissionType": "type", "customCommissionValue": "value"}
_FORMS = (
    Form("/profile", change_affiliate, _read_profile, id="about-", done="profile"),
    Form("/rate", change_affiliate, _read_rate, names=_RATE_NAMES, id="rate-", done="rate"),
    CustomForm("/bonus", _give_bonus, (create_conversion,)),
)
_USES = (get_affiliate, get_organization, get_tax_form, list_partner_groups, ban_affiliate, create_embed_token)


@form_page(blueprint, "member", f"{PATH}/settings", *_FORMS, uses=_USES)
def show_affiliate_settings(form: FormState | None, affiliate_id: str) -> Response:
    """Show the settings of an affiliate. Budget: 5 round trips."""
    affiliate = api_client.require(get_affiliate, path={"affiliate_id": affiliate_id})
    groups = api_client.require(list_partner_groups, path={"program_id": affiliate["programId"]})
    may_give = api_client.is_allowed(create_conversion)
    return screens.render(
        "brand/affiliates/settings.html",
        form,
        **head_values(affiliate),
        groups=[(group["id"], group["name"]) for group in groups],
        sent=_fill_forms(affiliate, form),
        may_give=may_give and affiliate["status"] == "Approved" and not affiliate["isTest"],
    )


def _fill_forms(affiliate: Mapping[str, Any], form: FormState | None) -> Mapping[str, FormState]:
    """Return the forms of the page with the current values, and a refused one as it was sent."""
    filled = {
        "about": forms.prefill("about-", fullName=affiliate["fullName"], tags=", ".join(affiliate["tags"])),
        "rate": forms.prefill(
            "rate-",
            type=affiliate["customCommissionType"] or "",
            value=affiliate["customCommissionValue"],
            partnerGroupId=affiliate["partnerGroupId"] or "",
        ),
        "bonus": forms.prefill("bonus-", currency=api_client.require(get_organization)["homeCurrency"]),
    }
    return filled | ({form.id.rstrip("-"): form} if form and form.id else {})
