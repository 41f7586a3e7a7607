"""What is done to an affiliate on a page of its own: the ban, and reading their tax form, which leaves a trace."""

from flask import Blueprint, Response

from api.affiliates.affiliates import get_affiliate
from api.affiliates.tax_forms import get_tax_form
from api.fraud import ban_affiliate
from pages import calls, forms, screens
from pages.screens import screen

blueprint = Blueprint("affiliate_grave_page", __name__)

_HERE = "/dashboard/affiliates/<affiliate_id>"
_BAN = (get_affiliate, ban_affiliate)
_FORM = (get_affiliate, get_tax_form)


@blueprint.get(f"{_HERE}/ban")
@screen("member", uses=_BAN)
def ask_for_ban(affiliate_id: str) -> Response:
    """Say what a ban does before it is done. Budget: 3 round trips."""
    affiliate = calls.needed(get_affiliate, path={"affiliate_id": affiliate_id})
    return screens.show("brand/affiliate_ban.html", affiliate=affiliate, may_ban=calls.may(ban_affiliate))


@blueprint.post(f"{_HERE}/ban")
@screen("member", uses=_BAN)
def ban(affiliate_id: str) -> Response:
    """Ban an affiliate."""
    path = {"affiliate_id": affiliate_id}
    answer = calls.tried(ban_affiliate, path=path, body={}, key=forms.key())
    if answer.refusal:
        affiliate = calls.needed(get_affiliate, path=path)
        form = forms.refused(answer.refusal)
        return screens.show(
            "brand/affiliate_ban.html", status=answer.status, form=form, affiliate=affiliate, may_ban=True
        )
    return screens.sent_on(f"/dashboard/affiliates/{affiliate_id}?done=ban")


@blueprint.get(f"{_HERE}/tax-form")
@screen("member", uses=_FORM)
def ask_for_tax_form(affiliate_id: str) -> Response:
    """Say that reading a tax form is written down, before anybody reads it. Budget: 3 round trips."""
    affiliate = calls.needed(get_affiliate, path={"affiliate_id": affiliate_id})
    return screens.show(
        "brand/affiliate_tax_form.html", affiliate=affiliate, found=None, may_read=calls.may(get_tax_form)
    )


@blueprint.post(f"{_HERE}/tax-form")
@screen("member", uses=_FORM)
def read_tax_form(affiliate_id: str) -> Response:
    """Show the tax form of an affiliate, with a link that opens it for five minutes."""
    affiliate = calls.needed(get_affiliate, path={"affiliate_id": affiliate_id})
    answer = calls.call(get_tax_form, path={"affiliate_id": affiliate_id})
    if answer.status != 404:
        calls.given(answer)
    return screens.show(
        "brand/affiliate_tax_form.html",
        affiliate=affiliate,
        found=answer.data or {},
        may_read=True,
        here=f"/dashboard/affiliates/{affiliate['id']}/tax-form",
    )
