"""One webhook endpoint: what it was told, and what one can do with it. Each form posts back and says what it does."""

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
from domain.refused import Refused
from domain.statuses import DeliveryStatus
from domain.webhooks import events
from pages import calls, forms, fragments, screens
from pages.brand.webhooks import endpoints
from pages.calls import CallAnswer
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("webhook_page", __name__)

_ACTS = (
    change_webhook_endpoint,
    test_webhook_endpoint,
    rotate_webhook_secret,
    redeliver_webhook_deliveries,
    delete_webhook_endpoint,
)
_LOOKS = (get_webhook_endpoint, list_webhook_deliveries)
_ANY = ("", "Any")
_FILTERS = ("status", "eventType", "since", "until", "cursor")


@blueprint.get("/dashboard/webhooks/<endpoint_id>")
@screen("member", uses=_LOOKS)
def show_webhook(endpoint_id: str) -> Response:
    """Show an endpoint and its deliveries. Budget: 3 round trips, however many there are."""
    return _page(endpoint_id)


@blueprint.get("/dashboard/webhooks/<endpoint_id>/fragment")
@screen("member", uses=_LOOKS)
def show_webhook_part(endpoint_id: str) -> Response:
    """Show how an endpoint is and its deliveries, alone. Budget: 3 round trips."""
    return fragments.show("brand/webhooks/_deliveries.html", **_shown(endpoint_id))


@blueprint.post("/dashboard/webhooks/<endpoint_id>")
@screen("member", uses=(*_LOOKS, *_ACTS))
def send_webhook_act(endpoint_id: str) -> Response:
    """Do what the form says."""
    act = _DOES.get(request.form.get("do", ""))
    if act is None:
        raise Refused(404)
    return act(endpoint_id)


def _change(endpoint_id: str) -> Response:
    if not endpoints.told():
        return _page(endpoint_id, form=forms.wrong({"events": endpoints.NO_EVENTS}), status=422)
    answer = _asked(change_webhook_endpoint, endpoint_id, endpoints.described())
    return _refused(endpoint_id, answer) if answer.refusal else _back(endpoint_id)


def _sample(endpoint_id: str) -> Response:
    answer = _asked(test_webhook_endpoint, endpoint_id, {"type": request.form.get("type")})
    if answer.refusal is not None:
        return _refused(endpoint_id, answer)
    return screens.sent_on(f"/dashboard/webhooks/{endpoint_id}/deliveries/{answer.data['deliveryId']}")


def _rotate(endpoint_id: str) -> Response:
    answer = _asked(rotate_webhook_secret, endpoint_id)
    return _refused(endpoint_id, answer) if answer.refusal else _page(endpoint_id, made=answer.data)


def _redeliver(endpoint_id: str) -> Response:
    """Send all that failed once more, up to as many as one call takes; whoever has more presses again."""
    since = calls.needed(get_webhook_endpoint, path={"endpoint_id": endpoint_id})["createdAt"]
    body = {"since": since, "status": DeliveryStatus.Failed}
    answer = _asked(redeliver_webhook_deliveries, endpoint_id, body)
    return _refused(endpoint_id, answer) if answer.refusal else _page(endpoint_id, queued=answer.data)


def _delete(endpoint_id: str) -> Response:
    answer = _asked(delete_webhook_endpoint, endpoint_id)
    return _refused(endpoint_id, answer) if answer.refusal else screens.sent_on("/dashboard/webhooks")


_DOES: Mapping[str, Callable[[str], Response]] = MappingProxyType(
    {"change": _change, "sample": _sample, "rotate": _rotate, "redeliver": _redeliver, "delete": _delete}
)


def _asked(view: calls.View, endpoint_id: str, body: Mapping[str, object] | None = None) -> CallAnswer:
    return calls.call(view, path={"endpoint_id": endpoint_id}, body=body, key=forms.key())


def _back(endpoint_id: str) -> Response:
    return screens.sent_on(f"/dashboard/webhooks/{endpoint_id}")


def _refused(endpoint_id: str, answer: CallAnswer) -> Response:
    assert answer.refusal is not None
    return _page(endpoint_id, form=forms.refused(answer.refusal), status=answer.status)


def _shown(endpoint_id: str) -> dict[str, Any]:
    path = {"endpoint_id": endpoint_id}
    endpoint = calls.needed(get_webhook_endpoint, path=path)
    wanted = {name: value for name in _FILTERS if (value := request.args.get(name))}
    found = calls.needed(list_webhook_deliveries, path=path, query=wanted)
    narrowed = {name: value for name, value in wanted.items() if name != "cursor"}
    return {
        "endpoint": endpoint,
        "deliveries": found["items"],
        "query": urlencode(wanted),
        "is_narrowed": bool(wanted),
        "older": urlencode(narrowed | {"cursor": found["nextCursor"]}) if found["hasMore"] else "",
    }


def _page(
    endpoint_id: str, *, form: FormState | None = None, status: int = 200, made: object = None, queued: object = None
) -> Response:
    shown = _shown(endpoint_id)
    endpoint = shown["endpoint"]
    told = set(endpoint["events"])
    is_change = form is not None and "url" in form.values
    holds = {name: endpoint[name] for name in ("url", "events", "description")}
    return screens.show(
        "brand/webhooks/endpoint.html",
        status=status,
        form=form or forms.EMPTY,
        change=form if is_change else forms.blank(**holds),
        may_write=calls.may(change_webhook_endpoint),
        subscribable=endpoints.EVENTS,
        status_choices=[_ANY, *((status.value, status.value) for status in DeliveryStatus)],
        type_choices=[_ANY, *((type, type) for type in ("test", *events.TYPES))],
        sample_choices=[(type, type) for type in events.TESTABLE if {"*", type} & told]
        if endpoint["managedBy"]
        else [(type, type) for type in ("test", *events.TESTABLE) if type == "test" or {"*", type} & told],
        made=made,
        queued=queued,
        **shown,
    )
