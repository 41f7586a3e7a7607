"""Reference exchange rates: their age, the amounts that wait for fresh ones, and the sources of new ones."""

from flask import Blueprint, Response

from api.operator.rates import import_rates, list_rate_ages, request_rates
from pages import api_client, forms, screens
from pages.form_pages import CustomForm, Form, form_page, send
from pages.forms import FormState

blueprint = Blueprint("rates_page", __name__)

_MAX_FILE_BYTES = 4_000_000


def _import_file() -> Response | FormState:
    """Store the rates of a file."""
    try:
        content = forms.read_file("file", _MAX_FILE_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        return forms.form_with_errors({"file": "The file is not UTF-8 text."})
    if not content.strip():
        return forms.form_with_errors({"file": "Choose a file."})
    answer = send(import_rates, body={"content": content})
    if answer.refusal is None:
        return _render_page(None, loaded=answer.data)
    return forms.form_with_errors({"file": answer.refusal.message or " ".join(answer.refusal.fields.values())})


_FORMS = (CustomForm("", _import_file, (import_rates,), _MAX_FILE_BYTES), Form("/refresh", request_rates))


@form_page(blueprint, "operator", "/console/rates", *_FORMS, uses=(list_rate_ages,), restores=True)
def show_rates(form: FormState | None) -> Response:
    """Show the currencies in use with the age of their rates. Budget: 2 round trips, 1 while no rate is stale."""
    return _render_page(form)


def _render_page(form: FormState | None, *, loaded: object = None) -> Response:
    return screens.render("console/rates.html", form, rates=api_client.require(list_rate_ages), loaded=loaded)
