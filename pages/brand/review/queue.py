"""One queue of all that somebody has to look at. Keys go through it where there are scripts; buttons do it anywhere."""

from collections.abc import Mapping
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from api.conversions.decisions import validate_conversion
from api.conversions.manual import create_conversion
from api.conversions.uncredited import dismiss_uncredited_conversion, list_uncredited_conversions
from api.fraud import ban_affiliate, close_fraud_event, list_fraud_events
from api.programs.programs import list_programs
from pages import calls, forms, screens
from pages.brand import choices
from pages.brand.review import cases
from pages.calls import CallAnswer
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("review_page", __name__)

_HERE = "/dashboard/review"
_USES = (
    ban_affiliate,
    close_fraud_event,
    dismiss_uncredited_conversion,
    list_fraud_events,
    list_programs,
    list_uncredited_conversions,
    validate_conversion,
)
_PER_PAGE = 20
_KEPT = ("kind", "programId", "cursor")
_Sent = Mapping[str, str]


@blueprint.get(_HERE)
@screen("member", uses=_USES)
def show_review() -> Response:
    """Show what waits, twenty a page. Budget: 3 round trips, however much there is."""
    return _shown()


@blueprint.post(_HERE)
@screen("member", uses=_USES)
def decide_case() -> Response:
    """Decide about one case, and lead back to the one after it."""
    sent = request.form.to_dict()
    decide = _DECISIONS.get((sent.get("case", ""), sent.get("action", "")))
    if decide is None:
        return _shown(FormState(alert="Say what to do with it."), 422)
    answer = decide(sent)
    if answer.refusal is not None:
        return _shown(FormState(alert=answer.refusal.message), answer.status)
    back = {name: sent.get(name) for name in (*_KEPT, "at")}
    kept = {name: value for name, value in back.items() if value}
    return screens.sent_on(f"{_HERE}?{urlencode(kept)}" if kept else _HERE)


def _shown(form: FormState = forms.EMPTY, status: int = 200) -> Response:
    asked = {name: request.values.get(name) or None for name in _KEPT}
    answer = calls.call(list_fraud_events, query={"programId": asked["programId"]})
    kind = asked["kind"] if asked["kind"] in cases.KINDS else None
    if answer.refusal is not None or kind != asked["kind"]:
        wrong = " ".join(answer.refusal.fields.values()) if answer.refusal else "There is no such kind."
        form, status = FormState(alert=wrong), 400
    sales = calls.needed(list_uncredited_conversions)
    found = cases.waiting(answer.data or [], sales, program_id=asked["programId"])
    return screens.show(
        "brand/review.html",
        status=status,
        form=form,
        page=cases.page(found, kind=kind, cursor=asked["cursor"], take=_PER_PAGE),
        kept=asked,
        programs=choices.programs(),
        can_decide=calls.may(close_fraud_event),
        can_credit=calls.may(create_conversion),
    )


def _close(sent: _Sent, action: str) -> CallAnswer:
    path = {"event_id": sent.get("id", "")}
    return calls.tried(close_fraud_event, path=path, body={"action": action}, key=forms.key())


def _release(sent: _Sent) -> CallAnswer:
    """Let a held conversion go; its event was no fraud then."""
    path = {"conversion_id": sent.get("conversion", "")}
    answer = calls.tried(validate_conversion, path=path, body={"reason": None}, key=forms.key())
    if answer.refusal is None:
        calls.call(close_fraud_event, path={"event_id": sent.get("id", "")}, body={"action": "dismiss"})
    return answer


def _ban(sent: _Sent) -> CallAnswer:
    return calls.tried(ban_affiliate, path={"affiliate_id": sent.get("affiliate", "")}, body={}, key=forms.key())


def _dismiss_sale(sent: _Sent) -> CallAnswer:
    path = {"uncredited_id": sent.get("id", "")}
    return calls.tried(dismiss_uncredited_conversion, path=path, key=forms.key())


#: By what a case is and what is done: an event is one of the fraud rules, a sale one that credited nobody.
_DECISIONS = {
    ("event", "resolve"): lambda sent: _close(sent, "resolve"),
    ("event", "dismiss"): lambda sent: _close(sent, "dismiss"),
    ("event", "validate"): _release,
    ("event", "ban"): _ban,
    ("sale", "dismiss"): _dismiss_sale,
    ("sale", "ban"): _ban,
}
