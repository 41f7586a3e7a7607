"""The webhook endpoints of a brand, and a new one. Its secret is shown once, when it is created."""

from typing import Any

from flask import Blueprint, Response, request

from api.webhooks.endpoints import create_webhook_endpoint, list_webhook_endpoints
from domain.webhooks import events
from pages import api_client, forms, screens
from pages.form_pages import Body, CustomForm, form_page, send
from pages.forms import FormState

blueprint = Blueprint("webhooks_page", __name__)

#: Events to subscribe to: all, or single types.
EVENTS = ("*", *events.TYPES)
# The maximum numbers of a brand's own endpoints and of those that workflows manage.
_MAX_OWN, _MAX_HOOKS = 50, 200


def read_endpoint() -> Body | FormState:
    """Return the typed endpoint as the API takes it; the form with an error if it has no event."""
    types = _read_types()
    if not types:
        return forms.form_with_errors({"events": "Choose at least one event."})
    return {
        "url": request.form.get("url", "").strip(),
        "events": types,
        "description": request.form.get("description", "").strip() or None,
    }


def _read_types() -> list[str]:
    """Return the chosen event types; `Everything` overrides single ones."""
    chosen = [type for type in request.form.getlist("events") if type]
    return ["*"] if "*" in chosen else chosen


def _create() -> Response | FormState:
    """Create an endpoint and show its secret; a repeated request shows it again."""
    body = read_endpoint()
    if isinstance(body, FormState):
        return body
    answer = send(create_webhook_endpoint, body=body, shows_all=True)
    return forms.form_from_refusal(answer) if answer.refusal else _render_page(new_endpoint=answer.data)


@form_page(
    blueprint,
    "member",
    "/dashboard/webhooks",
    CustomForm("", _create, (create_webhook_endpoint,)),
    uses=(list_webhook_endpoints,),
)
def show_webhooks(form: FormState | None) -> Response:
    """Show the brand's endpoints, and separately those that workflows manage. Budget: 2 round trips."""
    return _render_page(form)


def _render_page(form: FormState | None = None, *, new_endpoint: object = None) -> Response:
    return screens.render(
        "brand/webhooks/list.html",
        form or forms.prefill(events=["*"]),
        endpoints=_list_endpoints(managed="false", take=_MAX_OWN),
        hooks=_list_endpoints(managed="true", take=_MAX_HOOKS),
        made=new_endpoint,
        types=EVENTS,
    )


def _list_endpoints(**query: object) -> list[Any]:
    rows: list[Any] = api_client.require(list_webhook_endpoints, query=query)["items"]
    return rows
