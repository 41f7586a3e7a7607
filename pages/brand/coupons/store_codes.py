"""A new code without a coupon, minted at the brand's store or another gateway, with what it takes off."""

from flask import Blueprint, Response, request

from api.affiliates.affiliates import list_affiliates
from api.coupons.codes import create_affiliate_coupon
from api.programs.programs import list_programs
from pages import form_values, forms, screens
from pages.brand import choices
from pages.brand.coupons import discounts
from pages.form_pages import Body, CustomForm, form_page, send_form
from pages.forms import FormState

blueprint = Blueprint("new_code_page", __name__)


def _read_code() -> Body:
    form = {name: value.strip() for name, value in request.form.items() if not name.startswith("_")}
    return {
        "code": form.get("code") or None,
        "discountType": form.get("discountType") or None,
        "expiresAt": discounts.expiry(form),
        "maxRedemptions": form_values.parse_number(form.get("maxRedemptions", "")),
    } | discounts.discount(form)


def _mint_code() -> Response | FormState:
    """Mint a code for the affiliate with an email."""
    return create_code(_read_code(), request.form.get("programId"), to="/dashboard/coupons?done=minted")


def create_code(body: Body, program_id: str | None, *, to: str, form_id: str = "") -> Response | FormState:
    """Create a code for the affiliate of a program whose email was typed."""
    affiliate_id = choices.affiliate(request.form.get("email", ""), program_id)
    if affiliate_id is None:
        return forms.form_with_errors({"email": choices.NO_AFFILIATE}, form_id=form_id)
    return send_form(create_affiliate_coupon, path={"affiliate_id": affiliate_id}, body=body, to=to, form_id=form_id)


@form_page(
    blueprint,
    "member",
    "/dashboard/coupons/codes/new",
    CustomForm("", _mint_code, (create_affiliate_coupon,)),
    uses=(list_affiliates, list_programs),
)
def show_code_form(form: FormState | None) -> Response:
    """Show the form. Budget: 1 round trip."""
    form = form or forms.prefill(programId=request.args.get("programId"), discountType="PercentOff")
    return screens.render("brand/code_new.html", form, programs=choices.programs())
