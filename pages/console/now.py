"""The console's first screen: what waits for somebody, whether the service can do its work, and the queues.

A pause is a page of its own that asks why, so nothing that matters hangs on a part that changes under the pointer.
"""

from typing import Any

from flask import Blueprint, Response, request

from api.operator.attention import summarize_attention
from api.operator.queues import list_queues, pause_queue, resume_queue
from api.service.health import get_readiness
from domain.refused import not_found
from pages import calls, forms, fragments, screens
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("now_page", __name__)

_NOW = "/console"


@blueprint.get("/console")
@screen("operator", uses=(get_readiness, summarize_attention, list_queues))
def show_now() -> Response:
    """Show what waits, health and queues. Budget: 9 round trips, however much waits."""
    return screens.show("console/now.html", **_health(), **_queues())


@blueprint.get("/console/queues/fragment")
@screen("operator", uses=(list_queues,))
def show_queues_part() -> Response:
    """Show the queues alone. Budget: 4 round trips."""
    return fragments.show("console/_queues.html", **_queues())


@blueprint.get("/console/attention/fragment")
@screen("operator", uses=(get_readiness, summarize_attention))
def show_attention_part() -> Response:
    """Show what waits alone. Budget: 5 round trips."""
    return fragments.show("console/_attention.html", **_health())


@blueprint.get("/console/queues/<queue>/pause")
@screen("operator", uses=(list_queues, pause_queue))
def show_pause(queue: str) -> Response:
    """Ask why a queue is to be paused. Budget: 4 round trips."""
    return _pause_page(queue, forms.EMPTY)


@blueprint.post("/console/queues/<queue>/pause")
@screen("operator", uses=(list_queues, pause_queue))
def send_pause(queue: str) -> Response:
    """Pause a queue."""
    answer = calls.tried(pause_queue, path={"queue": queue}, body={"why": request.form.get("why", "")}, key=forms.key())
    if answer.refusal is None:
        return screens.sent_on(_NOW)
    return _pause_page(queue, forms.refused(answer.refusal), status=422)


@blueprint.post("/console/queues/<queue>/resume")
@screen("operator", uses=(resume_queue,))
def send_resume(queue: str) -> Response:
    """Hand out of a queue again."""
    calls.tried(resume_queue, path={"queue": queue}, body={}, key=forms.key())
    return screens.sent_on(_NOW)


@blueprint.get("/console/<path:rest>")
@screen("operator")
def show_no_console_page(rest: str) -> Response:
    """Say that there is no such page."""
    return screens.absent(rest)


def _pause_page(queue: str, form: FormState, *, status: int = 200) -> Response:
    found = next((one for one in _queues()["queues"] if one["queue"] == queue), None)
    if found is None:
        raise not_found("queue")
    return screens.show("console/pause.html", status=status, form=form, queue=found)


def _health() -> dict[str, Any]:
    return {"health": calls.call(get_readiness).data, "attention": calls.needed(summarize_attention)}


def _queues() -> dict[str, Any]:
    return {"queues": calls.needed(list_queues)}
