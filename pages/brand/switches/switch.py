"""One switch, by its state: mapping and options, progress, the preview with Run, the result, or why it is paused."""

from collections.abc import Mapping
from typing import Any

import orjson
from flask import Blueprint, Response, request

import settings
from api import current_time
from api.programs.programs import list_programs
from api.switches.files import list_switch_files
from api.switches.preview import preview_switch
from api.switches.reading import cancel_switch, read_switch, resume_switch
from api.switches.run import run_switch
from api.switches.sources import list_switch_sources
from api.switches.switches import change_switch, create_switch, get_switch, list_switches
from api.switches.undo import undo_switch
from pages import api_client, forms, screens
from pages.brand import choices
from pages.brand.switches import file_forms, new_switch, progress, settings_form, switch_words
from pages.form_pages import CustomForm, Form, form_page, send
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("switch_page", __name__)

_TOO_MANY_REQUESTS = 429
_HERE = "/dashboard/switch/{switch_id}"


def _save(switch_id: str) -> Response | FormState:
    """Store what changed of mapping and options; with the button Read, read the account next."""
    path = {"switch_id": switch_id}
    switch = api_client.require(get_switch, path=path)
    if (mistaken := settings_form.find_mistakes()) is not None:
        return mistaken
    changes, is_read_next = settings_form.read_changes(switch), request.form.get("then") == "read"
    steps = [(change_switch, changes)] if changes else []
    for operation, body in [*steps, (read_switch, {})] if is_read_next else steps:
        answer = send(operation, path=path, body=body, shows_all=True)
        if answer.status == _TOO_MANY_REQUESTS:
            return forms.form_with_errors({}, new_switch.TOO_MANY, settings_form.FORM_ID, answer.status)
        if answer.refusal is not None:
            if answer.status in (401, 403, 404):
                api_client.require_data(answer)
            return settings_form.form_from_refusal(answer)
    done = "" if is_read_next else "?done=saved" if changes else "?done=same"
    return screens.redirect(f"/dashboard/switch/{switch_id}{done}")


def _resume(switch_id: str) -> Response | FormState:
    """Store a new key if one was typed, and go on where the switch was paused."""
    path = {"switch_id": switch_id}
    switch = api_client.require(get_switch, path=path)
    source = new_switch.find_source(switch["source"])
    typed = new_switch.read_credentials(source)
    if typed:
        if (incomplete := new_switch.find_missing(source, "key-")) is not None:
            return incomplete
        answer = send(change_switch, path=path, body={"credentials": typed}, shows_all=True)
        if answer.refusal:
            return new_switch.form_from_refusal(answer, "key-")
    answer = send(resume_switch, path=path, shows_all=True)
    if answer.refusal:
        return new_switch.form_from_refusal(answer, "key-")
    return screens.redirect(f"/dashboard/switch/{switch_id}")


def _run(switch_id: str) -> Response | FormState:
    """Run the switch with the totals that the page showed."""
    try:
        confirm = orjson.loads(request.form.get("confirm", ""))
    except orjson.JSONDecodeError:
        confirm = {}
    answer = send(run_switch, path={"switch_id": switch_id}, body={"confirm": confirm}, shows_all=True)
    if answer.refusal:
        return forms.form_with_alert(answer)
    return screens.redirect(f"/dashboard/switch/{switch_id}")


_FORMS = (
    CustomForm("/settings", _save, (change_switch, read_switch)),
    Form("/read", read_switch, body={}, to=_HERE, shows_all=True),
    Form("/cancel", cancel_switch, body={}, to=_HERE, shows_all=True),
    CustomForm("/resume", _resume, (change_switch, resume_switch)),
    CustomForm("/run", _run, (run_switch,)),
    *file_forms.FORMS,
)
_READS = (
    *(get_switch, list_programs, list_switch_files, list_switch_sources, list_switches, preview_switch),
    *(create_switch, undo_switch),
)


@form_page(blueprint, "member", "/dashboard/switch/<switch_id>", *_FORMS, uses=_READS, restores=True)
def show_switch(form: FormState | None, switch_id: str) -> Response:
    """Show a switch by its state. Budget: 10 round trips, however much was read."""
    switch = api_client.require(get_switch, path={"switch_id": switch_id})
    return screens.render("brand/switches/switch.html", form, **_switch_values(switch, form))


@blueprint.get("/dashboard/switch/<switch_id>/fragment")
@screen("member", uses=(get_switch, list_switch_sources, resume_switch))
def show_switch_part(switch_id: str) -> Response:
    """Show the progress of a switch alone. Budget: 3 round trips."""
    switch = api_client.require(get_switch, path={"switch_id": switch_id})
    return screens.render_part("brand/switches/_progress.html", **_progress_values(switch))


def _progress_values(switch: Mapping[str, Any]) -> dict[str, Any]:
    now = current_time.now()
    points = progress.add_point(progress.parse_points(request.args.get("points", "")), switch, now=now)
    return {
        "switch": switch,
        "source": new_switch.find_source(switch["source"]),
        "pace": progress.measure(switch, points, now=now),
        "points": progress.format_points(points),
        "collections": switch_words.COLLECTIONS,
        "undo_stages": switch_words.UNDO_STAGES,
    }


def _switch_values(switch: Mapping[str, Any], form: FormState | None) -> dict[str, Any]:
    preview = _load_preview(switch)
    is_changeable = switch["state"] in ("Connected", "Ready")
    form_id = form.id if form else ""
    proposed = settings_form.propose_programs(switch)
    is_typed = form_id == settings_form.FORM_ID
    return {
        **_progress_values(switch),
        "preview": preview,
        "confirm": orjson.dumps(preview["toConfirm"]).decode() if preview else "",
        "programs": choices.list_program_choices() if is_changeable else [],
        "files": file_forms.list_files(switch),
        "file_names": switch_words.FILES,
        "statuses": settings_form.STATUSES,
        "set_form": form if is_typed else settings_form.prefill(switch, proposed),
        "is_proposed": bool(proposed) and not is_typed,
        "key_form": form if form_id == "key-" else forms.prefill("key-"),
        "file_form": form if form_id == "file-" else forms.prefill("file-", part=1),
        "words": switch_words,
        "undo_days": settings.current().switches.undo_days,
    }


def _load_preview(switch: Mapping[str, Any]) -> Any:
    """Return the preview of a switch that is Ready, or that made commissions payable; else None."""
    has_payable = switch["state"] == "Completed" and switch["options"]["unpaid"] == "payable"
    if switch["state"] != "Ready" and not has_payable:
        return None
    answer = api_client.call(preview_switch, path={"switch_id": switch["id"]})
    return None if answer.status == 409 else api_client.require_data(answer)
