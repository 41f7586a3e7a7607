"""Pauses a switch: nothing moves until a person resumes it, and its last error says why."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from domain import jobs
from domain.switches.states import JUDGE, ErrorCode, SwitchState
from models.switches import switches
from models.switches.switches import Switch

_INTERNAL_ERROR = "Finderfee could not go on because of an error of its own. Resume it, or write to support."


def pause(switch: Switch, *, code: ErrorCode, message: str, now: datetime, **changes: Any) -> Switch:
    """Pause a locked switch that is Reading or Writing; `changes` are further columns. The stage stays."""
    return switches.update(
        switch,
        {
            "state": SwitchState.Paused.value,
            "paused_in": switch.state,
            "waiting_until": None,
            **_build_error(code, message, now),
            "touched_at": now,
            **changes,
        },
    )


def pause_after_failed_job(*, job: str, organization_id: UUID, args: Mapping[str, str], now: datetime) -> None:
    """Pause the switch of a job whose attempts are used up, if it still waits for that job.

    A switch that is Undoing stays so, with the error; it can be resumed like a paused one.
    """
    switch = switches.lock(organization_id=organization_id, switch_id=UUID(args["switch_id"]))
    if switch is None or not _waits_for(switch, job):
        return
    if switch.state == SwitchState.Undoing:
        switches.update(switch, _build_error(ErrorCode.InternalError, _INTERNAL_ERROR, now))
    else:
        pause(switch, code=ErrorCode.InternalError, message=_INTERNAL_ERROR, now=now)


def _waits_for(switch: Switch, job: str) -> bool:
    if switch.state == SwitchState.Reading:
        return job == (jobs.SWITCH_JUDGE.name if switch.stage == JUDGE else jobs.SWITCH_READ.name)
    waited_for = {SwitchState.Writing.value: jobs.SWITCH_WRITE.name, SwitchState.Undoing.value: jobs.SWITCH_UNDO.name}
    return waited_for.get(switch.state) == job


def _build_error(code: ErrorCode, message: str, now: datetime) -> dict[str, Any]:
    return {"last_error_code": code.value, "last_error_message": message, "last_error_at": now}
