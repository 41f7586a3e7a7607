"""What people change of a switch before it runs: mapping, options, cut-over, credentials; begin, resume and cancel.

Source: the switch-over rules, "Words and records" and "Routes".
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from adapters.switches import registry
from adapters.switches.base import SourceInfo
from domain.refusals import Refused, not_found
from domain.switches.options import SwitchOptions
from domain.switches.sources import SourceName
from domain.switches.states import CHANGEABLE, JUDGE, READABLE, SwitchState
from models import db
from models.programs import programs
from models.switches import switches
from models.switches.judgement import judging_state
from models.switches.staging import reading
from models.switches.switches import Switch
from pipelines import credentials
from pipelines.switches import connecting, contexts, forgetting, steps, walking
from pipelines.switches.connecting import ProvedAccount
from pipelines.switches.files import file_mapping

#: Parts of a body after which every row is judged again.
_JUDGED_BY = ("campaigns", "options", "cut_over_at", "columns", "words")


def prove_credentials(
    *, organization_id: UUID, switch_id: UUID, body: Mapping[str, Any], now: datetime
) -> ProvedAccount | None:
    """Return the account that the credentials of a change open, None for a change without any. Opens a transaction.

    The source is asked once, outside of the transaction.
    Raises Refused: 404 not_found; 400 invalid_request; 409 switch_not_changeable; 422 and 503 as in `connecting`.
    """
    if "credentials" not in body:
        return None
    with db.unit_of_work(organization_id):
        switch = _lock(organization_id, switch_id)
        _check_changeable(switch)
    if switch.waiting_until is not None and switch.waiting_until > now:
        message = f"The system asked us to wait until {switch.waiting_until.isoformat(timespec='seconds')}."
        raise Refused(503, "switch_source_unreachable", message)
    return connecting.prove_changed(switch, body["credentials"])


def change(
    *, organization_id: UUID, switch_id: UUID, body: Mapping[str, Any], proved: ProvedAccount | None, now: datetime
) -> Switch:
    """Return the changed switch, in the caller's transaction. In Ready it is judged again.

    `body` is `schemas.switches.SwitchChange` loaded (snake_case; only what was sent): campaigns [{source_id,
    program_id}], options, cut_over_at, credentials, columns, words; the last two and options change only what they
    name. `proved` is what `prove_credentials` returns for it.
    Raises Refused: 404 not_found, program_not_found; 400 invalid_request; 409 switch_not_changeable;
    422 switch_credentials_refused for another account than the one that is read.
    """
    switch = _lock(organization_id, switch_id)
    _check_changeable(switch)
    if proved is not None:
        switch = _store_credentials(switch, proved)
    return _apply(switch, body, now=now)


def start_reading(*, organization_id: UUID, switch_id: UUID, now: datetime) -> Switch:
    """Return the switch, Reading, in the caller's transaction.

    Raises Refused: 404 not_found; 409 mapping_missing, currency_required, switch_not_readable.
    """
    switch = _lock(organization_id, switch_id)
    if switch.state not in READABLE:
        message = f"A switch that is {switch.state} cannot be read. Only one that is Connected or Ready can."
        raise Refused(409, "switch_not_readable", message)
    source, context = registry.get(switch.source), contexts.load_context(switch)
    if not context.campaigns:
        raise Refused(409, "mapping_missing", "Choose a program for at least one campaign first.", field="campaigns")
    _check_readable(switch, source.info)
    walking.start(switch, source, context, now=now)
    switch = switches.update(
        switch,
        {
            "state": SwitchState.Reading.value,
            "reading_at": now,
            "failures": 0,
            "busy": 0,
            **_NO_ERROR,
            "touched_at": now,
        },
    )
    rows = reading.list_lists(organization_id=organization_id, switch_id=switch_id)
    step = walking.find_next(switch, source, context, rows, now=now)
    if step is None:
        return walking.begin_judging(switch, source, context, now=now)
    _stage_read(switch, now)
    return switches.update(switch, {"stage": step.stage})


def resume(*, organization_id: UUID, switch_id: UUID, now: datetime) -> Switch:
    """Return the switch, in the state in which it was paused; it goes on where it stopped. In the caller's transaction.

    An undo that stopped with an error goes on too.
    Raises Refused: 404 not_found; 409 switch_not_paused.
    """
    switch = _lock(organization_id, switch_id)
    has_stopped_undoing = switch.state == SwitchState.Undoing and switch.last_error_code is not None
    if switch.state != SwitchState.Paused and not has_stopped_undoing:
        raise Refused(409, "switch_not_paused", f"The switch is not paused: it is {switch.state}.")
    state = switch.paused_in or switch.state
    if state == SwitchState.Undoing:
        steps.stage_undo(organization_id=organization_id, switch_id=switch_id)
    elif state == SwitchState.Writing:
        steps.stage_write(organization_id=organization_id, switch_id=switch_id)
    elif switch.stage == JUDGE:
        steps.stage_judge(organization_id=organization_id, switch_id=switch_id)
    else:
        _stage_read(switch, now)
    return switches.update(
        switch, {"state": state, "paused_in": None, "failures": 0, "busy": 0, **_NO_ERROR, "touched_at": now}
    )


def cancel(*, organization_id: UUID, switch_id: UUID, now: datetime) -> Switch:
    """Return the switch, Cancelled, in the caller's transaction; key and staging are erased.

    Raises Refused: 404 not_found; 409 switch_not_cancellable.
    """
    switch = _lock(organization_id, switch_id)
    if not _is_before_writing(switch):
        message = f"A switch that is {_describe_state(switch)} cannot be cancelled."
        raise Refused(409, "switch_not_cancellable", message)
    return forgetting.cancel(switch, now=now)


_NO_ERROR = {"last_error_code": None, "last_error_message": None, "last_error_at": None}


def _lock(organization_id: UUID, switch_id: UUID) -> Switch:
    switch = switches.lock(organization_id=organization_id, switch_id=switch_id)
    if switch is None:
        raise not_found("switch", switch_id)
    return switch


def _is_before_writing(switch: Switch) -> bool:
    return switch.state in CHANGEABLE and switch.paused_in != SwitchState.Writing


def _describe_state(switch: Switch) -> str:
    return f"{switch.state} in {switch.paused_in}" if switch.paused_in else switch.state


def _check_changeable(switch: Switch) -> None:
    if not _is_before_writing(switch):
        message = f"A switch that is {_describe_state(switch)} cannot be changed."
        raise Refused(409, "switch_not_changeable", message)


def _store_credentials(switch: Switch, proved: ProvedAccount) -> Switch:
    if switch.reading_at is not None:  # rows of two accounts would be one
        connecting.require_same_account(switch, proved)
    connecting.stage_campaigns(proved.account, **switch.key)
    return switches.update(
        switch,
        {
            "credentials_sealed": credentials.seal(proved.credentials, switch.id),
            "requests": switch.requests + proved.requests,
            **connecting.describe_account(proved),
        },
    )


def _apply(switch: Switch, body: Mapping[str, Any], *, now: datetime) -> Switch:
    """Store what a body changes of a locked switch, and judge it again if that matters."""
    key = switch.key
    changes: dict[str, Any] = {"touched_at": now}
    if "options" in body:
        changes["options"] = _merge_options(switch, body["options"])
    if "cut_over_at" in body:
        changes["cut_over_at"] = body["cut_over_at"]
    for name in ("columns", "words"):
        if name in body:
            changes[name] = {**getattr(switch, name), **body[name]}
    changed = switches.update(switch, changes)
    if switch.source == SourceName.Files and {"columns", "options"} & set(body):
        changed = file_mapping.derive(changed)
    if "campaigns" in body:
        _stage_mapping(changed, body["campaigns"])
    is_judged = changed.state == SwitchState.Ready or changed.stage == JUDGE
    if not is_judged or not set(_JUDGED_BY) & set(body):
        return changed
    judging_state.stage_reset(**key)
    if changed.state != SwitchState.Ready:  # it is being judged, or will be when it is resumed
        return changed
    steps.stage_judge(**key)
    return switches.update(changed, {"state": SwitchState.Reading.value, "stage": JUDGE})


def _merge_options(switch: Switch, sent: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**asdict(SwitchOptions.from_json(switch.options)), **sent}
    info = registry.get(switch.source).info
    if merged["assumed_commission"] is not None and not info.assumes_commissions:
        message = f"{info.label} states its commissions, so none is assumed."
        raise Refused(400, "invalid_request", message, field="options.assumedCommission")
    return SwitchOptions.from_json(merged).to_json()


def _stage_mapping(switch: Switch, mapping: list[Mapping[str, Any]]) -> None:
    """Stage which campaigns lead to which programs.

    Raises Refused: 400 invalid_request, 404 program_not_found, 409 switch_not_changeable.
    """
    key = switch.key
    source_ids = {campaign.source_id for campaign in switches.list_campaigns(**key)}
    for program_id in {entry["program_id"] for entry in mapping} - {None}:
        if programs.find(organization_id=switch.organization_id, program_id=program_id) is None:
            message = "There is no such program in this organization."
            raise Refused(404, "program_not_found", message, field="campaigns")
    for entry in mapping:
        if entry["source_id"] not in source_ids:
            message = f"The account has no campaign {entry['source_id']}."
            raise Refused(400, "invalid_request", message, field="campaigns")
    _check_lists_read(switch, [entry["source_id"] for entry in mapping if entry["program_id"] is not None])
    for entry in mapping:
        switches.stage_program(**key, source_id=entry["source_id"], program_id=entry["program_id"])


def _check_lists_read(switch: Switch, source_ids: Sequence[str]) -> None:
    """Raise Refused 409 if one of these campaigns has lists that the latest reading lacks: it was created since.

    Budget: 2 round trips for any number of campaigns.
    """
    if switch.reading_at is None or not source_ids:
        return
    context, source = contexts.load_context(switch), registry.get(switch.source)
    names = {row.name for row in reading.list_lists(**switch.key)}
    for source_id in source_ids:
        of_campaign = replace(context, campaigns=[source_id], all_campaigns=[source_id])
        if not {each.name for each in source.lists(of_campaign)} <= names:
            message = (
                f"Campaign {source_id} is newer than what was read. Read the account again, then choose its program."
            )
            raise Refused(409, "switch_not_changeable", message, field="campaigns")


def _check_readable(switch: Switch, info: SourceInfo) -> None:
    if info.name == SourceName.Files:
        file_mapping.require_mapping(switch)
    elif info.needs_currency and not switch.options.get("currency"):
        message = f"{info.label} names no currency. Choose the currency of its amounts first."
        raise Refused(409, "currency_required", message, field="options.currency")


def _stage_read(switch: Switch, now: datetime) -> None:
    """Stage the next request, not before the time until which the source asked to wait."""
    waiting_until = switch.waiting_until
    steps.stage_read(
        **switch.key,
        source=switch.source,
        run_at=waiting_until if waiting_until is not None and waiting_until > now else None,
    )
