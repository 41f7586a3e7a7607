"""One connected gateway: how it does, what came in and what became of it, and what one does about it."""

from flask import Blueprint, Response, request

from api.gateways.connections import (
    change_connection,
    check_connection,
    disconnect_gateway,
    get_connection,
    list_gateways,
)
from api.gateways.events import (
    get_connection_stats,
    list_gateway_events,
    reconcile_connection,
    replay_gateway_event,
)
from domain.gateways.states import EventStatus
from pages import calls, forms, screens
from pages.brand.connections import joining
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("connection_page", __name__)

_HERE = "/dashboard/connections/<connection_id>"
_USES = (
    change_connection,
    check_connection,
    disconnect_gateway,
    get_connection,
    get_connection_stats,
    list_gateway_events,
    list_gateways,
    reconcile_connection,
    replay_gateway_event,
)
_DONE = ("checked", "reconciling", "replaced", "replayed")


@blueprint.get(_HERE)
@screen("member", uses=_USES)
def show_connection(connection_id: str) -> Response:
    """Show a connection with its newest events. Budget: 5 round trips, however much came in."""
    return _shown(connection_id)


@blueprint.post(f"{_HERE}/check")
@screen("member", uses=_USES)
def check_gateway(connection_id: str) -> Response:
    """Ask the gateway whether it still takes the credentials."""
    answer = calls.tried(check_connection, path={"connection_id": connection_id})
    return _answered(connection_id, answer, "checked")


@blueprint.post(f"{_HERE}/reconcile")
@screen("member", uses=_USES)
def reconcile_gateway(connection_id: str) -> Response:
    """Have what was missed taken in."""
    answer = calls.tried(reconcile_connection, path={"connection_id": connection_id}, body={}, key=forms.key())
    return _answered(connection_id, answer, "reconciling")


@blueprint.post(f"{_HERE}/credentials")
@screen("member", uses=_USES)
def replace_credentials(connection_id: str) -> Response:
    """Replace those credentials that were typed; the others stay."""
    path = {"connection_id": connection_id}
    gateway = calls.needed(get_connection, path=path)["gateway"]
    offer = next(one for one in calls.needed(list_gateways) if one["name"] == gateway)
    body = {"credentials": joining.credentials(offer)}
    if not body["credentials"]:
        return _shown(connection_id, 422, forms.wrong({}, "Type what is to be replaced.", "new-"))
    answer = calls.tried(change_connection, path=path, body=body, key=forms.key())
    if answer.refusal:
        return _shown(connection_id, answer.status, joining.refused(answer.refusal, offer, "new-"))
    return _answered(connection_id, answer, "replaced")


@blueprint.post(f"{_HERE}/events/<event_id>/replay")
@screen("member", uses=_USES)
def replay_event(connection_id: str, event_id: str) -> Response:
    """Have an event worked on again."""
    path = {"connection_id": connection_id, "event_id": event_id}
    return _answered(connection_id, calls.tried(replay_gateway_event, path=path, key=forms.key()), "replayed")


@blueprint.post(f"{_HERE}/disconnect")
@screen("member", uses=_USES)
def leave_gateway(connection_id: str) -> Response:
    """End the connection."""
    answer = calls.tried(disconnect_gateway, path={"connection_id": connection_id})
    if answer.refusal:
        return _shown(connection_id, answer.status, forms.refused(answer.refusal))
    return screens.sent_on("/dashboard/connections?done=disconnected")


def _answered(connection_id: str, answer: calls.CallAnswer, done: str) -> Response:
    if answer.refusal:
        return _shown(connection_id, answer.status, forms.refused(answer.refusal))
    return screens.sent_on(f"/dashboard/connections/{connection_id}?done={done}")


def _shown(connection_id: str, status: int = 200, form: FormState = forms.EMPTY) -> Response:
    path = {"connection_id": connection_id}
    connection = calls.needed(get_connection, path=path)
    wanted = {name: request.args.get(name) or None for name in ("status", "cursor")}
    events = calls.call(list_gateway_events, path=path, query=wanted)
    page = events.data
    if events.refusal is not None:
        status, form = events.status, FormState(alert=" ".join(events.refusal.fields.values()))
        page = {"items": [], "nextCursor": None}
    offer = next(one for one in calls.needed(list_gateways) if one["name"] == connection["gateway"])
    is_on = connection["status"] != "Disconnected"
    done = request.args.get("done")
    return screens.show(
        "brand/connection.html",
        status=status,
        form=form,
        here=f"/dashboard/connections/{connection['id']}",
        connection=connection,
        offer=offer,
        stats=calls.needed(get_connection_stats, path=path),
        events=page["items"],
        next_cursor=page["nextCursor"],
        states=[(one.value, one.value) for one in EventStatus],
        is_narrowed=any(wanted.values()),
        sent=form if form.id == "new-" else forms.blank("new-"),
        done=done if done in _DONE else None,
        may_act=is_on and calls.may(check_connection),
        is_on=is_on,
    )
