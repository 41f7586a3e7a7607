"""Coupons and their codes, each code with its affiliate, its uses and its earnings."""

from flask import Blueprint, Response, request

from api.affiliates.affiliates import list_affiliates
from api.coupons.affiliate_coupons import create_affiliate_coupon, revoke_affiliate_coupon
from api.coupons.coupons import create_campaign_coupon
from api.coupons.lists import list_coupon_codes, list_coupons_of_campaigns
from api.programs.programs import list_programs
from domain.gateways.names import Gateway
from pages import api_client, forms, screens
from pages.brand import choices
from pages.brand.coupons import new_coupons
from pages.form_pages import CustomForm, Form, form_page
from pages.forms import FormState
from pages.list_pages import RowList, read_filter

blueprint = Blueprint("coupons_page", __name__)

_HERE = "/dashboard/coupons"
_READS = (list_affiliates, list_coupons_of_campaigns, list_coupon_codes, list_programs, create_campaign_coupon)
_CODES = RowList(list_coupon_codes, ("programId", "status"))
_MAX_COUPONS = 200


def _register_code() -> Response | FormState:
    """Register a code that was created elsewhere for the affiliate with the typed email."""
    body = {"code": request.form.get("code", "").strip() or None, "external": True}
    to = f"{_HERE}?done=registered"
    return new_coupons.create_code(body, request.form.get("programId"), to=to, form_id="code-")


_FORMS = (
    CustomForm("/codes", _register_code, (create_affiliate_coupon,)),
    Form("/codes/<affiliate_id>/<code_id>/revoke", revoke_affiliate_coupon, done="revoked"),
)


@form_page(blueprint, "member", _HERE, *_FORMS, uses=_READS)
def show_coupons(form: FormState | None) -> Response:
    """Show coupons and codes by the filter in the address. Budget: 4 round trips, however many there are."""
    programs = choices.list_program_choices()
    codes = _CODES.read()
    filtered = read_filter("programId")
    program_id = filtered if filtered in dict(programs) else None
    query = {"programId": program_id, "take": _MAX_COUPONS}
    return screens.render(
        "brand/coupons.html",
        **codes.values(form),
        programs=programs,
        program_id=program_id,
        gateways={gateway.value: gateway.name for gateway in Gateway},
        families=api_client.require(list_coupons_of_campaigns, query=query)["items"],
        sent=form if form and form.id == "code-" else forms.prefill("code-", programId=program_id),
    )
