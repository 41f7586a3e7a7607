"""One queue of all cases that need a review, for keyboard shortcuts if scripts run, and for buttons everywhere."""

from collections.abc import Mapping
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from api.conversions.decisions import validate_conversion
from api.conversions.manual import create_conversion
from api.conversions.uncredited_sales import dismiss_uncredited_conversion, list_uncredited_conversions
from api.fraud import ban_affiliate, close_fraud_event, list_fraud_events
from api.programs.programs import list_programs
from pages import api_client, forms, screens
from pages.api_client import ApiResult
from pages.brand import choices
from pages.brand.review import cases
from pages.form_pages import CustomForm, form_page, send
from pages.forms import FormState

blueprint = Blueprint("review_page", __name__)

_HERE = "/dashboard/review"
_DECISION_OPERATIONS = (ban_affiliate, close_fraud_event, dismiss_uncredited_conversion, validate_conversion)
_PER_PAGE = 20
_POSITION_FIELDS = ("kind", "programId", "cursor")
_Sent = Mapping[str, str]


def _close(form_values: _Sent, action: str) -> ApiResult:
    path = {"event_id": form_values.get("id", "")}
    return send(close_fraud_event, path=path, body={"action": action})


def _release(form_values: _Sent) -> ApiResult:
    """Release a held conversion, and dismiss its fraud event."""
    path = {"conversion_id": form_values.get("conversion", "")}
    answer = send(validate_conversion, path=path, body={"reason": None})
    if answer.refusal is None:
        api_client.call(close_fraud_event, path={"event_id": form_values.get("id", "")}, body={"action": "dismiss"})
    return answer


def _ban(form_values: _Sent) -> ApiResult:
    return send(ban_affiliate, path={"affiliate_id": form_values.get("affiliate", "")})


def _dismiss_sale(form_values: _Sent) -> ApiResult:
    return send(dismiss_uncredited_conversion, path={"uncredited_id": form_values.get("id", "")})


# By case and action: an event of the fraud rules, or an uncredited sale.
_DECISIONS = {
    ("event", "resolve"): lambda form_values: _close(form_values, "resolve"),
    ("event", "dismiss"): lambda form_values: _close(form_values, "dismiss"),
    ("event", "validate"): _release,
    ("event", "ban"): _ban,
    ("sale", "dismiss"): _dismiss_sale,
    ("sale", "ban"): _ban,
}


def _decide_case() -> Response | FormState:
    """Decide about one case, and redirect to the one after it."""
    form_values = request.form.to_dict()
    decide = _DECISIONS.get((form_values.get("case", ""), form_values.get("action", "")))
    if decide is None:
        return FormState(alert="Choose what to do.", status=422)
    answer = decide(form_values)
    if answer.refusal is not None:
        return forms.form_with_alert(answer)
    place = {name: value for name in (*_POSITION_FIELDS, "at") if (value := form_values.get(name))}
    return screens.redirect(f"{_HERE}?{urlencode(place)}" if place else _HERE)


@form_page(
    blueprint,
    "member",
    _HERE,
    CustomForm("", _decide_case, _DECISION_OPERATIONS),
    uses=(create_conversion, list_fraud_events, list_programs, list_uncredited_conversions),
)
def show_review(form: FormState | None) -> Response:
    """Show open cases, twenty a page. Budget: 3 round trips, however much there is."""
    place = {name: request.values.get(name) or None for name in _POSITION_FIELDS}
    answer = api_client.call(list_fraud_events, query={"programId": place["programId"]})
    kind = place["kind"] if place["kind"] in cases.KINDS else None
    if answer.refusal is not None or kind != place["kind"]:
        alert = " ".join(answer.refusal.fields.values()) if answer.refusal else "There is no such type."
        form = FormState(alert=alert, status=400)
    sales = api_client.require(list_uncredited_conversions)
    waiting = cases.list_open_cases(answer.data or [], sales, program_id=place["programId"])
    return screens.render(
        "brand/review.html",
        form,
        page=cases.page_of_cases(waiting, kind=kind, cursor=place["cursor"], take=_PER_PAGE),
        kept=place,
        programs=choices.list_program_choices(),
    )
