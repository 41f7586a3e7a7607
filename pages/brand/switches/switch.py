"""One switch, by its state: mapping and options, progress, the preview with Run, the result, or why it is paused."""

from collections.abc import Mapping
from typing import Any

import orjson
from flask import Blueprint, Response, request

from api import current_time
from api.programs.programs import list_programs
from api.switches.files import list_switch_files
from api.switches.preview import preview_switch
from api.switches.reading import cancel_switch, read_switch, resume_switch
from api.switches.run import run_switch
from api.switches.sources import list_switch_sources
from api.switches.switches import change_switch, get_switch
from api.switches.undo import undo_switch
from domain.statuses import AffiliateStatus
from pages import api_client, forms, screens
from pages.brand import choices
from pages.brand.switches import file_forms, new_switch, progress, switch_words
from pages.form_pages import CustomForm, Form, form_page, send
from pages.forms import FormState
from pages.screens import screen
from pages.times import time_fields

blueprint = Blueprint("switch_page", __name__)

_MAX_CAMPAIGNS = 1_000
_STATUSES = [(status.value, status.value) for status in AffiliateStatus]
_HERE = "/dashboard/switch/{switch_id}"


def _save(switch_id: str) -> Response | FormState:
    """Store mapping and options; with the button Read, read the account next."""
    path = {"switch_id": switch_id}
    answer = send(change_switch, path=path, body=_read_settings())
    if answer.refusal is None and request.form.get("then") == "read":
        answer = send(read_switch, path=path)
    if answer.refusal is not None:
        return forms.form_from_refusal(answer, {"options": "currency"}, "set-")
    return screens.redirect(f"/dashboard/switch/{switch_id}" + ("" if request.form.get("then") else "?done=saved"))


def _read_settings() -> dict[str, Any]:
    """Return the mapping and the options of the form as the API takes them."""
    typed = request.form
    count = min(_MAX_CAMPAIGNS, sum(name.startswith("campaign-") for name in typed))
    statuses = typed.getlist("includeStatuses")
    options: dict[str, Any] = {
        "unpaid": typed.get("unpaid", "history"),
        "includeStatuses": None if len(statuses) in (0, len(_STATUSES)) else statuses,
        "withoutReferrals": "withoutReferrals" in typed,
        "groups": typed.get("groups", "tag"),
        "codes": "codes" in typed,
        "customerIdIs": typed.get("customerIdIs", "auto"),
    }
    if "currency" in typed:
        options["currency"] = typed["currency"].strip().upper() or None
    if "assumedType" in typed:
        options["assumedCommission"] = _read_assumed_commission()
    return {
        "campaigns": [
            {"sourceId": typed[f"campaign-{index}"], "programId": typed.get(f"program-{index}") or None}
            for index in range(count)
            if f"campaign-{index}" in typed
        ],
        "options": options,
        "cutOverAt": time_fields.parse_local_time(typed.get("cutOverAt", "").strip() or None),
    }


def _read_assumed_commission() -> dict[str, Any] | None:
    text = request.form.get("assumedValue", "").strip().replace(",", ".")
    if not text:
        return None
    try:
        value: float | str = float(text)
    except ValueError:
        value = text  # the API reports the error
    return {"type": request.form["assumedType"], "value": value}


def _resume(switch_id: str) -> Response | FormState:
    """Store a new key if one was typed, and go on where the switch was paused."""
    path = {"switch_id": switch_id}
    switch = api_client.require(get_switch, path=path)
    source = new_switch.find_source(switch["source"])
    typed = new_switch.read_credentials(source)
    if typed:
        if (incomplete := new_switch.find_missing(source, "key-")) is not None:
            return incomplete
        answer = send(change_switch, path=path, body={"credentials": typed})
        if answer.refusal:
            return new_switch.form_from_refusal(answer, "key-")
    answer = send(resume_switch, path=path)
    if answer.refusal:
        return forms.form_from_refusal(answer, form_id="key-")
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
_READS = (get_switch, list_programs, list_switch_files, list_switch_sources, preview_switch, undo_switch)


@form_page(blueprint, "member", "/dashboard/switch/<switch_id>", *_FORMS, uses=_READS, restores=True)
def show_switch(form: FormState | None, switch_id: str) -> Response:
    """Show a switch by its state. Budget: 7 round trips, however much was read."""
    switch = api_client.require(get_switch, path={"switch_id": switch_id})
    return screens.render("brand/switches/switch.html", form, **_switch_values(switch, form))


@blueprint.get("/dashboard/switch/<switch_id>/fragment")
@screen("member", uses=(get_switch, list_switch_sources, cancel_switch, resume_switch))
def show_switch_part(switch_id: str) -> Response:
    """Show the progress of a switch alone. Budget: 3 round trips."""
    switch = api_client.require(get_switch, path={"switch_id": switch_id})
    return screens.render_part("brand/switches/_progress.html", **_progress_values(switch))


def _progress_values(switch: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "switch": switch,
        "source": new_switch.find_source(switch["source"]),
        "pace": progress.measure(switch, now=current_time.now()),
        "collections": switch_words.COLLECTIONS,
    }


def _switch_values(switch: Mapping[str, Any], form: FormState | None) -> dict[str, Any]:
    preview = None
    if switch["state"] == "Ready":
        answer = api_client.call(preview_switch, path={"switch_id": switch["id"]})
        preview = api_client.require_data(answer) if answer.status != 409 else None
    is_changeable = switch["state"] in ("Connected", "Ready")
    form_id = form.id if form else ""
    return {
        **_progress_values(switch),
        "preview": preview,
        "confirm": orjson.dumps(preview["toConfirm"]).decode() if preview else "",
        "programs": choices.list_program_choices() if is_changeable else [],
        "files": file_forms.list_files(switch),
        "file_names": switch_words.FILES,
        "statuses": _STATUSES,
        "set_form": form if form_id == "set-" else _prefill(switch),
        "key_form": form if form_id == "key-" else forms.prefill("key-"),
        "file_form": form if form_id == "file-" else forms.prefill("file-", part=1),
        "words": switch_words,
    }


def _prefill(switch: Mapping[str, Any]) -> FormState:
    options, assumed = switch["options"], switch["options"]["assumedCommission"] or {}
    programs = {f"program-{index}": campaign["programId"] for index, campaign in enumerate(switch["campaigns"])}
    return forms.prefill(
        "set-",
        **programs,
        unpaid=options["unpaid"],
        includeStatuses=options["includeStatuses"] or [status for status, _ in _STATUSES],
        withoutReferrals="on" if options["withoutReferrals"] else None,
        groups=options["groups"],
        codes="on" if options["codes"] else None,
        customerIdIs=options["customerIdIs"],
        currency=options["currency"],
        assumedType=assumed.get("type", "Percentage"),
        assumedValue=assumed.get("value"),
        cutOverAt=time_fields.format_local_time(switch["cutOverAt"]) if switch["cutOverAt"] else None,
    )
