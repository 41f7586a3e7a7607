"""One affiliate: what they have coming, what they brought, their terms, links and recruits, and what one can change."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

from api.affiliates.affiliates import get_affiliate
from api.affiliates.balance import get_affiliate_balance
from api.affiliates.sub_affiliates import list_sub_affiliates
from api.affiliates.tax_forms import get_tax_form
from api.conversions.manual import create_conversion
from api.coupons.codes import list_affiliate_coupons
from api.embed.tokens import create_embed_token
from api.fraud import ban_affiliate
from api.organization.organization import get_organization
from api.programs.daily import get_daily_numbers
from api.programs.partner_groups import list_partner_groups
from api.programs.programs import get_program
from pages import api_client, forms, screens
from pages.brand import choices
from pages.brand.affiliates import changes
from pages.form_pages import form_page
from pages.forms import FormState

blueprint = Blueprint("affiliate_page", __name__)

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


@form_page(blueprint, "member", "/dashboard/affiliates/<affiliate_id>", *changes.FORMS, uses=_USES)
def show_affiliate(form: FormState | None, affiliate_id: str) -> Response:
    """Show an affiliate. Budget: 15 round trips, however much they brought."""
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
        month=_month(days),
        program=program,
        questions=choices.questions(program),
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
    """Return the forms of the page: as things are, and the one that came back as it was sent."""
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


def _month(days: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    earned: dict[str, int] = {}
    for day in days:
        for currency, cents in day["commissionByCurrency"].items():
            earned[currency] = earned.get(currency, 0) + cents
    return {name: sum(day[name] for day in days) for name in ("clicks", "leads", "sales")} | {"earned": earned}
