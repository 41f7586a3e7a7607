"""Erases keys and staging of switches that ended, and cancels those that were left alone for 30 days.

Source: the switch-over rules, "Jobs" (`switch.forget`) and "Secrets and people's data".
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from domain import jobs
from domain.switches.states import SwitchState
from models.organization import audit
from models.switches import erasing, switches
from models.switches.switches import Switch
from pipelines import work

#: A switch that neither a person nor a job touched for so long is cancelled.
LEFT_ALONE = timedelta(days=30)
# Rows that one transaction deletes, and switches that it looks at; the rest follows in another job.
_MAX_ROWS, _MAX_SWITCHES = 20_000, 50


def any_org_forget(*, now: datetime) -> None:
    """Erase what is no longer needed, of every organization; what is too much for one transaction, in another job."""
    left_alone_since = now - LEFT_ALONE
    left = _MAX_ROWS
    for due in erasing.any_org_list_due(now=now, left_alone_since=left_alone_since, limit=_MAX_SWITCHES):
        switch = switches.lock(organization_id=due.organization_id, switch_id=due.id)
        if switch is not None and left:
            left = _forget(switch, max_rows=left, left_alone_since=left_alone_since, now=now)
            if not left:
                _enqueue_rest(switch)


def cancel(switch: Switch, *, now: datetime) -> Switch:
    """Cancel a locked switch that has not written: its key is erased at once, staging too unless it is very large.

    A job erases the rest of it.
    """
    cancelled = switches.update(
        switch,
        {
            "state": SwitchState.Cancelled.value,
            "stage": None,
            "paused_in": None,
            "waiting_until": None,
            "credentials_sealed": None,
            "preview": None,
            "touched_at": now,
        },
    )
    if not _erase_staging(cancelled, max_rows=_MAX_ROWS):
        _enqueue_rest(cancelled)
    return cancelled


def _forget(switch: Switch, *, max_rows: int, left_alone_since: datetime, now: datetime) -> int:
    """Erase what is due of a locked switch, and return how many further rows may be deleted."""
    state = SwitchState(switch.state)
    if state in (SwitchState.Connected, SwitchState.Ready, SwitchState.Paused):
        if switch.touched_at >= left_alone_since:
            return max_rows
        if switch.paused_in == SwitchState.Writing:  # a part is written, which needs no key
            _update(switch, {"credentials_sealed": None})
            return max_rows
        cancel(switch, now=now)
        _stage_audit(switch, now)
        return max_rows
    is_undo_over = switch.undo_until is None or switch.undo_until <= now
    if state == SwitchState.Completed and not is_undo_over:
        _update(switch, {"credentials_sealed": None})
        return max_rows
    if state in (SwitchState.Completed, SwitchState.Cancelled, SwitchState.Undone):
        _update(switch, {"credentials_sealed": None})
        return _erase_staging(switch, max_rows=max_rows)
    return max_rows


def _enqueue_rest(switch: Switch) -> None:
    """Enqueue the deletion of further rows: the job of an organization sees its switches only."""
    work.enqueue(jobs.SWITCH_FORGET, organization_id=switch.organization_id)


def _erase_staging(switch: Switch, *, max_rows: int) -> int:
    left = erasing.delete_staging(**switch.key, limit=max_rows)
    if left:
        _update(switch, {"is_forgotten": True})
    return left


def _update(switch: Switch, changes: Mapping[str, Any]) -> None:
    """Change a switch without touching it: the time at which it ended stays."""
    switches.update(switch, changes)


def _stage_audit(switch: Switch, now: datetime) -> None:
    audit.stage(
        organization_id=switch.organization_id,
        action="switch.cancelled",
        entity_id=str(switch.id),
        actor_type="system",
        actor_label="left alone for 30 days",
        before={"state": switch.state},
        after={"state": SwitchState.Cancelled.value},
        at=now,
    )
