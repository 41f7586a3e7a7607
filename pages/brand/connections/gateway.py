"""One connected gateway: its state, its events and their results, and actions on it."""

from flask import Blueprint, Response

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
from pages import api_client, forms, screens
from pages.brand.connections import event_reasons, new_connection
from pages.form_pages import CustomForm, Form, form_page, send
from pages.forms import FormState
from pages.list_pages import RowList

blueprint = Blueprint("connection_page", __name__)

_EVENTS = RowList(list_gateway_events, ("status",))
_STATES = [(status.value, status.value) for status in EventStatus]


def _replace_credentials(connection_id: str) -> Response | FormState:
    """Replace the typed credentials; the others stay."""
    path = {"connection_id": connection_id}
    offer = new_connection.find_offer(list_gateways, api_client.require(get_connection, path=path)["gateway"])
    body = {"credentials": new_connection.read_credentials(offer)}
    if not body["credentials"]:
        return forms.form_with_errors({}, "Enter at least one new key.", "new-")
    answer = send(change_connection, path=path, body=body)
    if answer.refusal:
        return new_connection.form_from_refusal(answer, offer, "new-")
    return screens.redirect(f"/dashboard/connections/{connection_id}?done=replaced")


_FORMS = (
    Form("/check", check_connection, done="checked"),
    Form("/reconcile", reconcile_connection, done="reconciling"),
    CustomForm("/credentials", _replace_credentials, (change_connection,)),
    Form("/events/<event_id>/replay", replay_gateway_event, done="replayed"),
    Form("/disconnect", disconnect_gateway, to="/dashboard/connections", done="disconnected"),
)


@form_page(
    blueprint,
    "member",
    "/dashboard/connections/<connection_id>",
    *_FORMS,
    uses=(get_connection, get_connection_stats, list_gateway_events, list_gateways),
)
def show_connection(form: FormState | None, connection_id: str) -> Response:
    """Show a connection with its newest events. Budget: 5 round trips, however many there are."""
    path = {"connection_id": connection_id}
    connection = api_client.require(get_connection, path=path)
    return screens.render(
        "brand/connection.html",
        **_EVENTS.read(path=path).values(form),
        connection=connection,
        offer=new_connection.find_offer(list_gateways, connection["gateway"]),
        stats=api_client.require(get_connection_stats, path=path),
        states=_STATES,
        reason_words=event_reasons.describe_reason,
        sent=form if form and form.id == "new-" else forms.prefill("new-"),
        is_on=connection["status"] != "Disconnected",
    )
