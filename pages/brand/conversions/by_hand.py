"""A conversion that nobody sent: a sale that nothing tracked, a bonus, or a sale that had credited nobody."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from api.affiliates.affiliates import list_affiliates
from api.conversions.manual import create_conversion
from api.conversions.uncredited import dismiss_uncredited_conversion, list_uncredited_conversions
from api.organization.organization import get_organization
from api.programs.programs import list_programs
from domain.money import currencies
from domain.refused import Refused
from pages import calls, forms, screens, typed
from pages.brand import choices
from pages.forms import FormState
from pages.screens import screen
from pages.times import entered

blueprint = Blueprint("new_conversion_page", __name__)

_HERE = "/dashboard/conversions/new"
_USES = (
    create_conversion,
    dismiss_uncredited_conversion,
    get_organization,
    list_affiliates,
    list_programs,
    list_uncredited_conversions,
)
# How fields of the API are called in the form, which speaks of major units and of people.
_NAMES: Mapping[str, str] = {"amountCents": "amount", "commissionCents": "commission", "affiliateId": "affiliate"}


@blueprint.get(_HERE)
@screen("member", uses=_USES)
def show_new_conversion() -> Response:
    """Show the form, filled in from the sale that credited nobody where the address names one.

    Budget: 3 round trips.
    """
    home = calls.needed(get_organization)["homeCurrency"]
    return _shown(_from_uncredited(request.args.get("uncredited", "")) or forms.blank(kind="sale", currency=home))


@blueprint.post(_HERE)
@screen("member", uses=_USES)
def record_conversion() -> Response:
    """Record it; the sale that it makes good is looked at by that."""
    form = forms.sent()
    found = _affiliate(form)
    if isinstance(found, FormState):
        return _shown(found, 422)
    answer = calls.tried(create_conversion, body=_body(form, found), key=forms.key())
    if answer.refusal is not None:
        return _shown(forms.refused(answer.refusal, _NAMES), answer.status, found)
    if form.value("uncredited"):
        calls.call(dismiss_uncredited_conversion, path={"uncredited_id": form.value("uncredited")})
    return screens.sent_on(f"/dashboard/conversions/{answer.data['conversion']['id']}")


def _shown(form: FormState, status: int = 200, affiliate_id: str | None = None) -> Response:
    if not calls.may(create_conversion):
        raise Refused(403)
    return screens.show(
        "brand/conversions/new.html",
        status=status,
        form=form,
        programs=choices.programs(),
        affiliate_id=affiliate_id,
    )


def _from_uncredited(wanted: str) -> FormState | None:
    if not wanted:
        return None
    open_ones = calls.needed(list_uncredited_conversions)
    row = next((one for one in open_ones if one["id"] == wanted), None)
    if row is None:
        return None
    return forms.blank(
        uncredited=row["id"],
        kind="sale",
        programId=row["programId"],
        affiliate=row["affiliateEmail"],
        amount=typed.major(row["amountCents"], row["currency"]),
        currency=row["currency"],
        occurredAt=entered.local_time(row["occurredAt"]),
    )


def _affiliate(form: FormState) -> str | FormState:
    """Return the id of who is to be credited, or the form with what is wrong with them."""
    sought = form.value("affiliate").strip()
    if not sought:
        return forms.wrong({"affiliate": "Type the email of the affiliate."})
    query = {"programId": form.value("programId") or "-", "q": sought, "take": 200}
    answer = calls.call(list_affiliates, query=query)
    if answer.refusal is not None:
        return forms.refused(answer.refusal, {"q": "affiliate"})
    for one in answer.data["items"]:
        if sought.lower() in (one["email"], one["fullName"].lower()):
            return str(one["id"])
    return forms.wrong({"affiliate": "Nobody in this program has this email or name."})


def _body(form: FormState, affiliate_id: str) -> Mapping[str, Any]:
    code = form.value("currency").strip() or calls.needed(get_organization)["homeCurrency"]
    # In a currency that is none of ours no amount is right: the API says so, whatever it is.
    currency = currencies.normalize(code) or "USD"
    return {
        "programId": form.value("programId"),
        "affiliateId": affiliate_id,
        "kind": form.value("kind") or None,
        "amountCents": typed.minor(form.value("amount"), currency),
        "commissionCents": typed.minor(form.value("commission"), currency),
        "currency": code,
        "customerEmail": form.value("customerEmail").strip() or None,
        "occurredAt": entered.instant(form.value("occurredAt").strip() or None),
        "note": form.value("note").strip() or None,
    }
