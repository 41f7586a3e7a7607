"""Takes a completed switch back, slice by slice, but for records that something else uses by now.

Customers come first: a payment that arrives later is then credited by nothing that the undo removes. Affiliates come
after their customers and conversions, which keep them.
Source: the switch-over rules, "Undo".
"""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from domain.refusals import Refused, not_found
from domain.switches.options import SwitchOptions
from domain.switches.sources import SLICE_ROWS, WRITTEN, Collection
from domain.switches.states import SwitchState
from models.imports import imports
from models.switches import switches
from models.switches.switches import Switch
from models.switches.undo import figures, slices
from models.switches.undo.figures import UndoScope
from models.switches.undo.slices import RowToUndo
from pipelines.imports import exclusive
from pipelines.switches import parameters, steps
from pipelines.switches.removing import affiliates, commissions, customers, links
from pipelines.switches.removing.slices import UndoSlice

_NO_REFUND = UUID(int=0)
_REFUNDS = "refunds"
Remove = Callable[[UndoSlice], list[str]]
# In this order; refunds are those that the switch booked on conversions from before it.
_STAGES: tuple[tuple[str, Remove], ...] = (
    (Collection.Customers.value, customers.remove),
    (_REFUNDS, commissions.remove_refunds),
    (Collection.Commissions.value, commissions.remove),
    (Collection.Affiliates.value, affiliates.remove),
    (Collection.Links.value, links.remove_links),
    (Collection.Codes.value, links.remove_codes),
)
_ORDER = [name for name, _ in _STAGES]


def preview(*, organization_id: UUID, switch_id: UUID, now: datetime) -> dict[str, Any]:
    """Return what an undo would remove and keep, as the answer of GET …/undo in snake_case.

    It locks nothing, so the result may change until then.
    Raises Refused: 404 not_found; 409 switch_not_completed. Budget: 5 round trips.
    """
    switch = switches.find(organization_id=organization_id, switch_id=switch_id)
    if switch is None:
        raise not_found("switch", switch_id)
    if switch.state != SwitchState.Completed:
        raise _not_completed()
    counts = figures.list_kept(_scope(switch))
    written = figures.count_written(organization_id=organization_id, switch_id=switch_id)
    kept_counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for collection, reason, count in counts:
        if collection != "taken_back":
            kept_counts[collection] += count
            reasons[reason] += count
    return {
        "possible": _is_in_time(switch, now),
        "until": switch.undo_until,
        "would_remove": {name.value: max(written.get(name.value, 0) - kept_counts[name.value], 0) for name in WRITTEN},
        "would_keep": {name.value: kept_counts[name.value] for name in WRITTEN},
        "kept_because": {reason: count for reason, count in sorted(reasons.items()) if count},
        "taken_back": [
            {"currency": currency, "cents": cents}
            for collection, currency, cents in sorted(counts)
            if collection == "taken_back"
        ],
    }


def start(*, organization_id: UUID, switch_id: UUID, now: datetime) -> Switch:
    """Return the switch, Undoing.

    Raises Refused: 404 not_found; 409 undo_expired, switch_not_completed, switch_already_undone,
    migration_already_in_progress. Budget: 4 round trips.
    """
    switch = switches.find(organization_id=organization_id, switch_id=switch_id)
    if switch is not None and switch.state in (SwitchState.Undoing, SwitchState.Undone):
        raise Refused(409, "switch_already_undone", "This switch is already undone, or its undo is under way.")
    exclusive.hold(organization_id)
    switch = switches.lock(organization_id=organization_id, switch_id=switch_id)
    if switch is None:
        raise not_found("switch", switch_id)
    if switch.state != SwitchState.Completed:
        raise _not_completed()
    if not _is_in_time(switch, now):
        raise Refused(409, "undo_expired", "The time to undo this switch is over.")
    steps.stage_undo(organization_id=organization_id, switch_id=switch_id)
    return switches.update(switch, {"state": SwitchState.Undoing.value, "stage": _ORDER[0], "touched_at": now})


def undo_next(*, organization_id: UUID, switch_id: UUID, now: datetime) -> None:
    """Take back the next slice of a switch that is Undoing and stage the next; after the last it is Undone.

    A slice and its end are committed together, so a slice that is repeated finds nothing to do.
    """
    switch = switches.lock(organization_id=organization_id, switch_id=switch_id)
    if switch is None or switch.state != SwitchState.Undoing:
        return
    key = {"organization_id": organization_id, "switch_id": switch_id}
    first = _ORDER.index(switch.stage) if switch.stage in _ORDER else 0
    for stage, remove in _STAGES[first:]:
        collection = Collection.Commissions.value if stage == _REFUNDS else stage
        after = slices.find_cursor(**key, collection=collection) if stage == switch.stage else None
        rows = _list_rows(switch, stage, after)
        if not rows:
            slices.stage_cursor(**key, collection=collection, undone_to=None)
            continue
        slice_ = UndoSlice(switch, rows, imports.find_of_switch(**key), figures.find_run_start(**key), now)
        slices.stage_undone(**key, collection=collection, source_ids=remove(slice_))
        end = str(rows[-1].target_id) if stage == _REFUNDS else rows[-1].source_id
        slices.stage_cursor(**key, collection=collection, undone_to=end)
        switches.update(switch, {"stage": stage, "touched_at": now})
        steps.stage_undo(**key)
        return
    _finish(switch, now=now)


def _list_rows(switch: Switch, stage: str, after: str | None) -> list[RowToUndo]:
    key = switch.key
    if stage == _REFUNDS:
        return slices.list_refunds(**key, after=UUID(after) if after else _NO_REFUND, limit=SLICE_ROWS)
    return slices.list_slice(**key, collection=stage, after=after or "", limit=SLICE_ROWS)


def _finish(switch: Switch, *, now: datetime) -> None:
    parameters.remove(switch)
    imports.stage_undone_of_switch(**switch.key, at=now)
    slices.stage_refunds_undone(**switch.key)
    remaining = figures.count_written(**switch.key)
    result = {name: {**counts, "remaining": remaining.get(name, 0)} for name, counts in (switch.result or {}).items()}
    ended = {"state": SwitchState.Undone.value, "stage": None, "undone_at": now, "touched_at": now}
    switches.update(switch, {**ended, "result": result or None})


def _scope(switch: Switch) -> UndoScope:
    key = switch.key
    jobs = imports.find_of_switch(**key)
    result = switch.result or {}
    return UndoScope(
        **switch.key,
        affiliates_job_id=jobs["Affiliates"],
        conversions_job_id=jobs["Conversions"],
        since=figures.find_run_start(**key),
        has_changed=result.get("commissions", {}).get("changed", 1) > 0,
        has_payable=SwitchOptions.from_json(switch.options).unpaid == "payable",
    )


def _is_in_time(switch: Switch, now: datetime) -> bool:
    return switch.undo_until is not None and now < switch.undo_until


def _not_completed() -> Refused:
    return Refused(409, "switch_not_completed", "Only a completed switch can be undone.")
