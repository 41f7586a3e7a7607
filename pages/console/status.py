"""The console's first screen: items that need attention, the service's health, and the queues.

A pause has a page of its own with a reason, so that no important button is in a part that updates under the pointer.
"""

from typing import Any

from flask import Blueprint, Response

from api.operator.attention import summarize_attention
from api.operator.queues import list_queues, pause_queue, resume_queue
from api.service.health import get_readiness
from domain.refusals import not_found
from pages import api_client, screens
from pages.form_pages import Form, form_page, read_texts
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("now_page", __name__)


@form_page(
    blueprint,
    "operator",
    "/console",
    Form("/queues/<queue>/resume", resume_queue),
    uses=(get_readiness, summarize_attention, list_queues),
)
def show_now(form: FormState | None) -> Response:
    """Show attention items, health and queues. Budget: 9 round trips, however many there are."""
    return screens.render("console/now.html", form, **_health_values(), **_queue_values())


@blueprint.get("/console/queues/fragment")
@screen("operator", uses=(list_queues,))
def show_queues_part() -> Response:
    """Show the queues alone. Budget: 4 round trips."""
    return screens.render_part("console/_queues.html", **_queue_values())


@blueprint.get("/console/attention/fragment")
@screen("operator", uses=(get_readiness, summarize_attention))
def show_attention_part() -> Response:
    """Show the attention items alone. Budget: 5 round trips."""
    return screens.render_part("console/_attention.html", **_health_values())


@form_page(
    blueprint,
    "operator",
    "/console/queues/<queue>/pause",
    Form("", pause_queue, read_texts("why"), to="/console"),
    uses=(list_queues,),
)
def show_pause(form: FormState | None, queue: str) -> Response:
    """Ask for the reason of a pause. Budget: 4 round trips."""
    row = next((row for row in api_client.require(list_queues) if row["queue"] == queue), None)
    if row is None:
        raise not_found("queue")
    return screens.render("console/pause.html", form, queue=row)


@blueprint.get("/console/<path:rest>")
@screen("operator")
def show_no_console_page(rest: str) -> Response:
    """Show that there is no such page."""
    return screens.refuse_address(rest)


def _health_values() -> dict[str, Any]:
    return {"health": api_client.call(get_readiness).data, "attention": api_client.require(summarize_attention)}


def _queue_values() -> dict[str, Any]:
    return {"queues": api_client.require(list_queues)}
