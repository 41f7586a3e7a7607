"""The webhook endpoints of a brand, and a new one. Its secret is shown at that moment and never again."""

from typing import Any

from flask import Blueprint, Response, request

from api.webhooks.endpoints import create_webhook_endpoint, list_webhook_endpoints
from domain.webhooks import events
from pages import api_client, forms, screens
from pages.form_pages import Body, CustomForm, form_page, send
from pages.forms import FormState

blueprint = Blueprint("webhooks_page", __name__)

#: What may be subscribed to: everything, or each type by its name.
EVENTS = ("*", *events.TYPES)
# As many as a brand may have, of its own and of workflows.
_MOST_OWN, _MOST_HOOKS = 50, 200


def read_endpoint() -> Body | FormState:
    """Return what the form of an endpoint says, as the API takes it; the form again where it names no event."""
    types = _read_types()
    if not types:
        return forms.form_with_errors({"events": "Choose what it is told of."})
    return {
        "url": request.form.get("url", "").strip(),
        "events": types,
        "description": request.form.get("description", "").strip() or None,
    }


def _read_types() -> list[str]:
    """Return what the form of an endpoint wants it to be told of. What is ticked below `Everything` does not count."""
    chosen = [type for type in request.form.getlist("events") if type]
    return ["*"] if "*" in chosen else chosen


def _create() -> Response | FormState:
    """Create an endpoint and show its secret, which a repeated request shows again."""
    body = read_endpoint()
    if isinstance(body, FormState):
        return body
    answer = send(create_webhook_endpoint, body=body, shows_all=True)
    return forms.form_from_refusal(answer) if answer.refusal else _show(made=answer.data)


@form_page(
    blueprint,
    "member",
    "/dashboard/webhooks",
    CustomForm("", _create, (create_webhook_endpoint,)),
    uses=(list_webhook_endpoints,),
)
def show_webhooks(form: FormState | None) -> Response:
    """Show the brand's endpoints, and apart from them those that workflows manage. Budget: 2 round trips."""
    return _show(form)


def _show(form: FormState | None = None, *, made: object = None) -> Response:
    return screens.render(
        "brand/webhooks/list.html",
        form or forms.prefill(events=["*"]),
        endpoints=_list(managed="false", take=_MOST_OWN),
        hooks=_list(managed="true", take=_MOST_HOOKS),
        made=made,
        types=EVENTS,
    )


def _list(**query: object) -> list[Any]:
    rows: list[Any] = api_client.require(list_webhook_endpoints, query=query)["items"]
    return rows
