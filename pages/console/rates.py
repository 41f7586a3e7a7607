"""Reference rates: how old they are, what waits for fresh ones, and where new ones come from."""

from flask import Blueprint, Response, request

from api.operator.rates import import_rates, list_rate_ages, request_rates
from pages import calls, forms, kept, screens
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("rates_page", __name__)

_RATES = "/console/rates"
_MOST_BYTES = 4_000_000


@blueprint.get("/console/rates")
@screen("operator", uses=(list_rate_ages,))
def show_rates() -> Response:
    """Show the currencies in use with the age of their rates. Budget: 2 round trips, 1 while no rate is stale."""
    return _page(kept.form() or forms.EMPTY)


@blueprint.post("/console/rates")
@screen("operator", uses=(list_rate_ages, import_rates), most_bytes=_MOST_BYTES)
def send_rates() -> Response:
    """Store the rates of a file."""
    chosen = request.files.get("file")
    try:
        content = chosen.read().decode("utf-8-sig") if chosen else ""
    except UnicodeDecodeError:
        return _page(forms.wrong({"file": "It is no text in UTF-8."}), status=422)
    finally:
        request.close()  # a large file was put into one on the disk
    if not content.strip():
        return _page(forms.wrong({"file": "Choose a file."}), status=422)
    answer = calls.tried(import_rates, body={"content": content}, key=forms.key())
    if answer.refusal is None:
        return _page(forms.EMPTY, loaded=answer.data)
    said = answer.refusal.message or " ".join(answer.refusal.fields.values())
    return _page(forms.wrong({"file": said}), status=422)


@blueprint.post("/console/rates/refresh")
@screen("operator", uses=(list_rate_ages, request_rates))
def send_refresh() -> Response:
    """Ask the feed now."""
    answer = calls.tried(request_rates, body={}, key=forms.key())
    if answer.refusal is None:
        return screens.sent_on(_RATES)
    return _page(FormState(alert=answer.refusal.message), status=422)


def _page(form: FormState, *, status: int = 200, loaded: object = None) -> Response:
    rates = calls.needed(list_rate_ages)
    return screens.show("console/rates.html", status=status, form=form, here=_RATES, rates=rates, loaded=loaded)
