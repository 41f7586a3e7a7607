"""Where an affiliate is paid: said, changed, taken back."""

from flask import Blueprint, Response, request

from api.payouts.account import get_payout_account, put_payout_account
from pages import calls, forms, kept, screens
from pages.forms import FormState
from pages.portal import frame
from pages.screens import screen

blueprint = Blueprint("portal_account_page", __name__)

_HERE = "/portal/payout-account"
_USES = (*frame.USES, get_payout_account, put_payout_account)
# The account that each method takes.
_FIELDS = {
    "Wallet": "walletEmail",
    "ProcessorConnect": "connectedAccountId",
    "GlobalPayouts": "recipientId",
}


@blueprint.get(_HERE)
@screen("account", uses=_USES)
def show_payout_account() -> Response:
    """Show where one is paid, and the form that says it. Budget: 5 round trips."""
    waiting = kept.form()
    if waiting is not None:
        return _shown(waiting)
    found = calls.needed(get_payout_account)
    return _shown(forms.blank(method=found["method"], **{name: found[name] for name in _FIELDS.values()}))


@blueprint.post(_HERE)
@screen("account", uses=_USES)
def save_payout_account() -> Response:
    """Say where one is paid; without a method it is taken back."""
    method = request.form.get("method") or None
    body: dict[str, str | None] = {"method": method}
    if method in _FIELDS:
        body[_FIELDS[method]] = (request.form.get(_FIELDS[method]) or "").strip() or None
    answer = calls.tried(put_payout_account, body=body, key=forms.key())
    if answer.refusal is not None:
        return _shown(forms.refused(answer.refusal), status=frame.status(answer))
    return screens.sent_on(f"{_HERE}?saved=1")


def _shown(form: FormState, *, status: int = 200) -> Response:
    return frame.show(
        "account.html",
        status=status,
        form=form,
        found=calls.needed(get_payout_account),
        was_saved=request.method == "GET" and request.args.get("saved") == "1",
    )
