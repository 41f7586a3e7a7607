"""One webhook endpoint: its deliveries and the actions on it. Each form posts to the page with its action in `do`."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from api.webhooks.deliveries import list_webhook_deliveries, redeliver_webhook_deliveries
from api.webhooks.endpoints import (
    change_webhook_endpoint,
    delete_webhook_endpoint,
    get_webhook_endpoint,
    rotate_webhook_secret,
    test_webhook_endpoint,
)
from domain.refusals import Refused
from domain.statuses import DeliveryStatus
from domain.webhooks import events
from pages import api_client, forms, screens
from pages.api_client import View
from pages.brand.webhooks import endpoints
from pages.form_pages import Body, CustomForm, form_page, send, send_form
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("webhook_page", __name__)

_OPERATIONS = (
    change_webhook_endpoint,
    test_webhook_endpoint,
    rotate_webhook_secret,
    redeliver_webhook_deliveries,
    delete_webhook_endpoint,
)
_ADDRESS = "/dashboard/webhooks/{endpoint_id}"
_READS = (get_webhook_endpoint, list_webhook_deliveries)
_ANY = ("", "Any")
_FILTERS = ("status", "eventType", "since", "until", "cursor")


@blueprint.get("/dashboard/webhooks/<endpoint_id>/fragment")
@screen("member", uses=_READS)
def show_webhook_part(endpoint_id: str) -> Response:
    """Show the state of an endpoint and its deliveries alone. Budget: 3 round trips."""
    return screens.render_part("brand/webhooks/_deliveries.html", **_read_values(endpoint_id))


def _change(endpoint_id: str) -> Response | FormState:
    body = endpoints.read_endpoint()
    return body if isinstance(body, FormState) else _send(change_webhook_endpoint, endpoint_id, body)


def _send_sample(endpoint_id: str) -> Response | FormState:
    to = "/dashboard/webhooks/{endpoint_id}/deliveries/{deliveryId}"
    return _send(test_webhook_endpoint, endpoint_id, {"type": request.form.get("type")}, to)


def _rotate(endpoint_id: str) -> Response | FormState:
    answer = send(rotate_webhook_secret, path={"endpoint_id": endpoint_id}, shows_all=True)
    return (
        forms.form_from_refusal(answer) if answer.refusal else _render_page(None, endpoint_id, new_secret=answer.data)
    )


def _redeliver(endpoint_id: str) -> Response | FormState:
    """Redeliver failed deliveries, up to the limit of one call; a user with more presses again."""
    path = {"endpoint_id": endpoint_id}
    since = api_client.require(get_webhook_endpoint, path=path)["createdAt"]
    body = {"since": since, "status": DeliveryStatus.Failed}
    answer = send(redeliver_webhook_deliveries, path=path, body=body, shows_all=True)
    return forms.form_from_refusal(answer) if answer.refusal else _render_page(None, endpoint_id, queued=answer.data)


def _delete(endpoint_id: str) -> Response | FormState:
    return _send(delete_webhook_endpoint, endpoint_id, to="/dashboard/webhooks")


def _send(operation: View, endpoint_id: str, body: Body | None = None, to: str = _ADDRESS) -> Response | FormState:
    return send_form(operation, path={"endpoint_id": endpoint_id}, body=body, to=to, shows_all=True)


_HANDLERS: Mapping[str, Callable[[str], Response | FormState]] = MappingProxyType(
    {"change": _change, "sample": _send_sample, "rotate": _rotate, "redeliver": _redeliver, "delete": _delete}
)


def _handle_form(endpoint_id: str) -> Response | FormState:
    """Handle the form in the field `do`."""
    act = _HANDLERS.get(request.form.get("do", ""))
    if act is None:
        raise Refused(404)
    return act(endpoint_id)


@form_page(
    blueprint, "member", "/dashboard/webhooks/<endpoint_id>", CustomForm("", _handle_form, _OPERATIONS), uses=_READS
)
def show_webhook(form: FormState | None, endpoint_id: str) -> Response:
    """Show an endpoint and its deliveries. Budget: 3 round trips, however many there are."""
    return _render_page(form, endpoint_id)


def _read_values(endpoint_id: str) -> dict[str, Any]:
    path = {"endpoint_id": endpoint_id}
    endpoint = api_client.require(get_webhook_endpoint, path=path)
    filters = {name: value for name in _FILTERS if (value := request.args.get(name))}
    deliveries = api_client.require(list_webhook_deliveries, path=path, query=filters)
    narrowed = {name: value for name, value in filters.items() if name != "cursor"}
    return {
        "endpoint": endpoint,
        "deliveries": deliveries["items"],
        "query": urlencode(filters),
        "is_narrowed": bool(filters),
        "older": urlencode(narrowed | {"cursor": deliveries["nextCursor"]}) if deliveries["hasMore"] else "",
    }


def _render_page(
    form: FormState | None, endpoint_id: str, *, new_secret: object = None, queued: object = None
) -> Response:
    values = _read_values(endpoint_id)
    endpoint = values["endpoint"]
    subscribed = set(endpoint["events"])
    is_change = form is not None and "url" in form.values
    holds = {name: endpoint[name] for name in ("url", "events", "description")}
    return screens.render(
        "brand/webhooks/endpoint.html",
        form,
        change=form if is_change else forms.prefill(**holds),
        subscribable=endpoints.EVENTS,
        status_choices=[_ANY, *((status.value, status.value) for status in DeliveryStatus)],
        type_choices=[_ANY, *((type, type) for type in ("test", *events.TYPES))],
        sample_choices=[(type, type) for type in events.TESTABLE if {"*", type} & subscribed]
        if endpoint["managedBy"]
        else [(type, type) for type in ("test", *events.TESTABLE) if type == "test" or {"*", type} & subscribed],
        made=new_secret,
        queued=queued,
        **values,
    )
