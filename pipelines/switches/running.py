"""Writes what was judged, after a person confirmed the preview: slice by slice, in the order of the collections."""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import settings
from domain.refusals import Refused, not_found
from domain.switches.sources import SLICE_ROWS, WRITTEN, Collection
from domain.switches.states import SwitchState
from models import ids
from models.imports import imports
from models.imports.imports import ImportJob
from models.organization import audit
from models.switches import switches
from models.switches.switches import Switch
from models.switches.written_rows import written
from models.switches.written_rows.written import Walk
from pipelines.imports import exclusive
from pipelines.switches import parameters, steps
from pipelines.switches.writing import affiliates, codes, commissions, customers, links
from pipelines.switches.writing.slices import Slice, WrittenRows

Write = Callable[[Slice], WrittenRows]
# Each collection in order, and how its rows are walked.
_WALKS: tuple[tuple[Collection, Walk, Write], ...] = (
    (Collection.Affiliates, "rows", affiliates.write),
    (Collection.Links, "rows", links.write),
    (Collection.Codes, "rows", codes.write),
    (Collection.Customers, "rows", customers.write),
    (Collection.Commissions, "rows", commissions.write),
    (Collection.Commissions, "refunds", commissions.write_refunds),
)
_IMPORTS = {"Affiliates": (Collection.Affiliates,), "Conversions": (Collection.Commissions,)}


def start(
    *, organization_id: UUID, switch_id: UUID, member_id: UUID | None, confirm: Mapping[str, Any], now: datetime
) -> Switch:
    """Return the switch, Writing.

    `confirm` is the preview's `toConfirm` as sent. Raises Refused: 404 not_found; 409 switch_not_ready,
    preview_changed, migration_already_in_progress. Budget: 4 round trips.
    """
    exclusive.hold(organization_id)
    switch = switches.lock(organization_id=organization_id, switch_id=switch_id)
    if switch is None:
        raise not_found("switch", switch_id)
    if switch.state != SwitchState.Ready or switch.preview is None:
        raise Refused(409, "switch_not_ready", "The preview is not finished. Wait until the switch is Ready.")
    if _normalize(confirm) != _normalize(switch.preview["to_confirm"]):
        message = "These are not the totals of the preview. Load it again, check it, and confirm what it says now."
        raise Refused(409, "preview_changed", message)
    for kind in _IMPORTS:
        imports.stage(_import_job(switch, kind, member_id=member_id, now=now))
    written.stage_reset(organization_id=organization_id, switch_id=switch_id)
    steps.stage_write(organization_id=organization_id, switch_id=switch_id)
    return switches.update(
        switch, {"state": SwitchState.Writing.value, "stage": Collection.Affiliates.value, "touched_at": now}
    )


def write_next(*, organization_id: UUID, switch_id: UUID, now: datetime) -> None:
    """Write the next slice of a switch that is Writing and stage the next; after the last it is Completed.

    A slice and the mark of its rows are committed together, so a slice that is repeated finds nothing to do.
    """
    switch = switches.lock(organization_id=organization_id, switch_id=switch_id)
    if switch is None or switch.state != SwitchState.Writing:
        return
    key = {"organization_id": organization_id, "switch_id": switch_id}
    progress = written.find_progress(**key)
    for collection, walk, write in _WALKS:
        after = _position(progress.get(collection.value), walk)
        if after is None:
            continue
        rows = written.list_slice(**key, collection=collection.value, walk=walk, after=after, limit=SLICE_ROWS)
        if not rows:
            continue
        slice_ = Slice(switch, rows, imports.find_of_switch(**key), now)
        _stage_results(slice_, collection, walk, write(slice_))
        switches.update(switch, {"stage": collection.value, "touched_at": now})
        steps.stage_write(**key)
        return
    _complete(switch, now=now)


def _position(written_to: str | None, walk: Walk) -> str | None:
    """Return the source id after which a walk of a collection goes on; None: it is over.

    `written_to` is `<walk>/<source id>`.
    """
    if written_to is None:
        return ""
    current, _, source_id = written_to.partition("/")
    if current == walk:
        return source_id
    return None if current == "refunds" else ""


def _stage_results(slice_: Slice, collection: Collection, walk: Walk, results: WrittenRows) -> None:
    key, name = slice_.switch.key, collection.value
    written.stage_left_out(**key, collection=name, reasons=results.left_out)
    for warning, source_ids in results.unchanged.items():
        written.stage_known(**key, collection=name, source_ids=source_ids, warning=warning)
    written.stage_merged(**key, targets=results.merged)
    written.stage_former(**key, collection=name, former=results.former)
    done = [row.source_id for row in slice_.rows if not results.skips(row.source_id)]
    written_to = f"{walk}/{slice_.rows[-1].source_id}"
    written.stage_written(**key, collection=name, source_ids=done, written_to=written_to)


def _complete(switch: Switch, *, now: datetime) -> None:
    key = switch.key
    result = _count_result(switch)
    for kind, collections in _IMPORTS.items():
        counts = [result["reasons"][collection.value] for collection in collections]
        imported = sum(result["counts"][collection.value]["created"] for collection in collections)
        imports.stage_finish(**key, kind=kind, imported=imported, reasons=dict(sum(counts, Counter())))
    added = parameters.add(switch)
    completed = switches.update(
        switch,
        {
            "state": SwitchState.Completed.value,
            "stage": None,
            "result": result["counts"],
            "parameters_added": list(added),
            "credentials_sealed": None,
            "completed_at": now,
            "undo_until": now + timedelta(days=settings.current().switches.undo_days),
            "touched_at": now,
        },
    )
    audit.stage(
        organization_id=switch.organization_id,
        action="switch.completed",
        entity_id=str(switch.id),
        actor_type="system",
        actor_label=None,
        at=now,
        after={"source": completed.source, "result": dict(result["counts"])},
    )


def _count_result(switch: Switch) -> dict[str, Any]:
    """Return what the run did: counts by collection and verdict, and the reasons of rows that did not come."""
    names = {"new": "created", "merged": "merged", "changed": "changed", "left_out": "left_out"}
    counts = {collection.value: dict.fromkeys(names.values(), 0) for collection in WRITTEN}
    reasons: dict[str, Counter[str]] = {collection.value: Counter() for collection in WRITTEN}
    for collection, verdict, reason, count in written.count_verdicts(**switch.key):
        if collection not in counts:
            continue
        if verdict in names:
            counts[collection][names[verdict]] += count
        if verdict != "new":
            reasons[collection][reason or verdict] += count
    return {"counts": counts, "reasons": reasons}


def _import_job(switch: Switch, kind: Any, *, member_id: UUID | None, now: datetime) -> ImportJob:
    return ImportJob(
        id=ids.new_id(),
        organization_id=switch.organization_id,
        kind=kind,
        total=0,
        imported=0,
        skipped=0,
        errored=0,
        reasons={},
        created_by=member_id,
        created_at=now,
        source=switch.source,
        switch_id=switch.id,
    )


def _normalize(totals: Mapping[str, Any]) -> tuple[Any, ...]:
    payable = {each["currency"]: each["cents"] for each in totals.get("payable", ()) if each["cents"]}
    return totals.get("affiliates"), totals.get("customers"), totals.get("commissions"), sorted(payable.items())
