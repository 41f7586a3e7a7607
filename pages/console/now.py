"""The console's first screen: what needs attention, whether the service can do its work, and the queues.

A pause is a page of its own that asks why, so nothing that matters hangs on a part that changes under the pointer.
"""

from typing import Any

from flask import Blueprint, Response

from api.operator.attention import summarize_attention
from api.operator.queues import list_queues, pause_queue, resume_queue
from api.service.health import get_readiness
from domain.refused import not_found
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
    """Show what waits, health and queues. Budget: 9 round trips, however much waits."""
    return screens.render("console/now.html", form, **_health(), **_queues())


@blueprint.get("/console/queues/fragment")
@screen("operator", uses=(list_queues,))
def show_queues_part() -> Response:
    """Show the queues alone. Budget: 4 round trips."""
    return screens.render_part("console/_queues.html", **_queues())


@blueprint.get("/console/attention/fragment")
@screen("operator", uses=(get_readiness, summarize_attention))
def show_attention_part() -> Response:
    """Show what waits alone. Budget: 5 round trips."""
    return screens.render_part("console/_attention.html", **_health())


@form_page(
    blueprint,
    "operator",
    "/console/queues/<queue>/pause",
    Form("", pause_queue, read_texts("why"), to="/console"),
    uses=(list_queues,),
)
def show_pause(form: FormState | None, queue: str) -> Response:
    """Ask why a queue is to be paused. Budget: 4 round trips."""
    row = next((row for row in api_client.require(list_queues) if row["queue"] == queue), None)
    if row is None:
        raise not_found("queue")
    return screens.render("console/pause.html", form, queue=row)


@blueprint.get("/console/<path:rest>")
@screen("operator")
def show_no_console_page(rest: str) -> Response:
    """Say that there is no such page."""
    return screens.refuse_address(rest)


def _health() -> dict[str, Any]:
    return {"health": api_client.call(get_readiness).data, "attention": api_client.require(summarize_attention)}


def _queues() -> dict[str, Any]:
    return {"queues": api_client.require(list_queues)}
