"""The payout account of an affiliate: set, changed, removed."""

from flask import Blueprint, Response, request

from api.payouts.account import get_payout_account, put_payout_account
from pages import api_client, forms
from pages.form_pages import Body, Form, form_page
from pages.forms import FormState
from pages.portal import frame

blueprint = Blueprint("portal_account_page", __name__)

# The account that each method takes.
_FIELDS = {
    "Wallet": "walletEmail",
    "ProcessorConnect": "connectedAccountId",
    "GlobalPayouts": "recipientId",
}


def _read_account() -> Body:
    """Return the payout account; without a method it is removed."""
    method = request.form.get("method") or None
    field = _FIELDS.get(method or "")
    return {"method": method} | ({field: request.form.get(field, "").strip() or None} if field else {})


_SAVE = Form("", put_payout_account, _read_account, to="/portal/payout-account?saved=1")


@form_page(blueprint, "account", "/portal/payout-account", _SAVE, uses=(*frame.USES, get_payout_account), restores=True)
def show_payout_account(form: FormState | None) -> Response:
    """Show the payout account and its form. Budget: 5 round trips."""
    account = api_client.require(get_payout_account)
    return frame.render(
        "account.html",
        form or forms.prefill(method=account["method"], **{name: account[name] for name in _FIELDS.values()}),
        found=account,
        was_saved=request.method == "GET" and request.args.get("saved") == "1",
    )
