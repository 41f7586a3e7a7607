"""The pages of one affiliate that are asked for one by one: the ban is destructive, reading a tax form is audited."""

from flask import Blueprint, Response

from api.affiliates.affiliates import get_affiliate
from api.affiliates.tax_forms import get_tax_form
from api.fraud import ban_affiliate
from pages import api_client, screens
from pages.brand.affiliates.profile import PAGE, PATH
from pages.form_pages import CustomForm, Form, form_page
from pages.forms import FormState

blueprint = Blueprint("affiliate_restricted_page", __name__)

_BAN = Form("", ban_affiliate, to=f"{PAGE}?done=ban")


@form_page(blueprint, "member", f"{PATH}/ban", _BAN, uses=(get_affiliate,))
def ask_for_ban(form: FormState | None, affiliate_id: str) -> Response:
    """Show the effects of a ban before it is done. Budget: 3 round trips."""
    affiliate = api_client.require(get_affiliate, path={"affiliate_id": affiliate_id})
    return screens.render("brand/affiliates/ban.html", form, affiliate=affiliate)


def _read_tax_form(affiliate_id: str) -> Response:
    """Show the tax form of an affiliate, with a link that opens it for five minutes."""
    affiliate = api_client.require(get_affiliate, path={"affiliate_id": affiliate_id})
    answer = api_client.call(get_tax_form, path={"affiliate_id": affiliate_id})
    if answer.status != 404:
        api_client.require_data(answer)
    return screens.render("brand/affiliates/tax_form.html", affiliate=affiliate, found=answer.data or {})


@form_page(
    blueprint, "member", f"{PATH}/tax-form", CustomForm("", _read_tax_form, (get_tax_form,)), uses=(get_affiliate,)
)
def ask_for_tax_form(form: FormState | None, affiliate_id: str) -> Response:
    """Show that reading a tax form is audited, before it is read. Budget: 3 round trips."""
    affiliate = api_client.require(get_affiliate, path={"affiliate_id": affiliate_id})
    return screens.render("brand/affiliates/tax_form.html", form, affiliate=affiliate, found=None)
