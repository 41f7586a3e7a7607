"""Dead letters: failed jobs. An operator reads them, runs them again, or discards them with a reason."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards, login_age
from api.edge import audit, body, idempotency, paging
from api.edge.operations import EMPTY, object_of, operation, page
from api.operator.operator_guards import DECIDE, READ, WRITE
from domain.refusals import Refused
from models import db
from models.jobs import admin_queries
from models.jobs.admin_queries import DeadFilters, JobRow
from pipelines.operating import discards, job_queues
from schemas.affiliates.affiliate import Nothing
from schemas.operator.queues import (
    CountRecord,
    DeadLetterRecord,
    DeadLettersFilter,
    DeadLettersQuery,
    DeadLetterSummaryRecord,
    DiscardBody,
    DiscardedRecord,
    ReplayBody,
    ReplayedRecord,
    WholeDeadLetterRecord,
    WhyBody,
)

blueprint = Blueprint("operator_dead_letters", __name__)

_RECORD = DeadLetterRecord()
_WHOLE = WholeDeadLetterRecord()
_COUNT = CountRecord()
_REPLAYED = ReplayedRecord()
_DISCARDED = DiscardedRecord()
_SUMMARY = DeadLetterSummaryRecord()

# Job numbers grow by up to a thousand a second, so they may get long.
_NUMBER = re.compile(r"[1-9][0-9]{0,17}")


@blueprint.get("/api/operator/dead-letters")
@operation(READ, page(_RECORD), asks=DeadLettersQuery())
def list_dead_letters() -> Mapping[str, object]:
    """List dead letters, newest first; filtered by queue, kind of job, organization or error.

    Each shows the work that a discard leaves undone. Budget: 1 round trip.
    """
    query = body.query()
    page_request = paging.read_page_request(query)
    after = (page_request.after[0], page_request.after[1].int) if page_request.after else None
    with db.any_org_work():
        rows = admin_queries.any_org_dead_page(_filters(query), after=after, limit=page_request.take + 1)
    page_rows, has_more = rows[: page_request.take], len(rows) > page_request.take
    items = _RECORD.dump([_serialize(row) for row in page_rows], many=True)
    return {"items": items, "nextCursor": _cursor(page_rows) if has_more else None, "hasMore": has_more}


@blueprint.get("/api/operator/dead-letters/count")
@operation(READ, object_of(_COUNT), asks=DeadLettersFilter())
def count_dead_letters() -> Mapping[str, object]:
    """Count dead letters, filtered by queue, kind of job, organization or error. Budget: 1 round trip."""
    with db.any_org_work():
        return {"count": admin_queries.any_org_count_dead(_filters(body.query()))}


@blueprint.get("/api/operator/dead-letters/kinds")
@operation(READ, object_of(_SUMMARY), asks=DeadLettersFilter())
def summarize_dead_letters() -> Mapping[str, object]:
    """Count the dead letters of a filter by kind, with the work that a discard leaves undone and sums per currency.

    Budget: 1 round trip.
    """
    with db.any_org_work():
        kinds = discards.any_org_summarize(_filters(body.query()))
    return _SUMMARY.dump({"count": sum(kind.count for kind in kinds), "kinds": kinds})


@blueprint.get("/api/operator/dead-letters/<number>")
@operation(READ, object_of(_WHOLE), refuses=("404 not_found",))
def get_dead_letter(number: str) -> Mapping[str, object]:
    """Show one dead letter with its arguments, the traceback of its last attempt, and its origin.

    Budget: 1 round trip.
    """
    job_id = _job_id(number)
    with db.any_org_work():
        job = job_queues.any_org_find_dead(job_id)
    return _WHOLE.dump({**_serialize(job), "last_error": job.last_error})


@blueprint.post("/api/operator/dead-letters/<number>/replay")
@operation(WRITE, object_of(_REPLAYED), takes=Nothing(), refuses=("403 fresh_login_required", "404 not_found"))
def replay_dead_letter(number: str) -> Response:
    """Run a dead letter again, with a fresh count of attempts.

    A job of the queue `payouts` moves money, and needs a login within the last hour.
    """
    job_id = _job_id(number)
    body.load_optional()
    with db.any_org_work():
        moves_money = job_queues.any_org_moves_money(job_id)
    if moves_money:
        login_age.check(guards.operator().signed_in_at, within_s=guards.FRESH_S)

    def replay() -> idempotency.Answer:
        job = job_queues.any_org_replay_one(job_id)
        details = {"jobs": [job_id], "name": job.name}
        audit.record("job.replayed", str(job_id), after=details, organization_id=job.organization_id, now=clock.now())
        return 200, {"replayed": [job_id]}

    return idempotency.run_once_for_operator(replay, wakes_relay=True)


@blueprint.post("/api/operator/dead-letters/<number>/discard")
@operation(DECIDE, EMPTY, status=204, takes=WhyBody(), refuses=("404 not_found",))
def discard_dead_letter(number: str) -> Response:
    """Delete a dead letter permanently. The audit log keeps the job, the work left undone, and the reason."""
    job_id, why = _job_id(number), body.load()["why"]

    def discard() -> idempotency.Answer:
        job = discards.any_org_discard_one(job_id)
        details = {"why": why, "jobs": [job_id], "job": discards.audit_data(job)}
        audit.record("job.discarded", str(job_id), after=details, organization_id=job.organization_id, now=clock.now())
        return 204, None

    return idempotency.run_once_for_operator(discard)


@blueprint.post("/api/operator/dead-letters/replay")
@operation(DECIDE, object_of(_REPLAYED), takes=ReplayBody(), refuses=("409 count_mismatch",))
def replay_dead_letters() -> Response:
    """Run all dead letters of a filter again, if their number is still `confirmCount`.

    409 `count_mismatch` with the current `count`, and nothing is replayed.
    """
    values = body.load()
    filters = _filters(values)

    def replay() -> idempotency.Answer:
        replayed = job_queues.any_org_replay_all(filters, confirmed=values["confirm_count"])
        details = {
            "filter": _audit_filter(filters),
            "count": len(replayed),
            "jobs": list(replayed[:1000]),
            "why": values["why"],
        }
        audit.record("job.replayed", "filter", after=details, now=clock.now())
        return 200, {"replayed": list(replayed)}

    return idempotency.run_once_for_operator(replay, wakes_relay=True)


@blueprint.post("/api/operator/dead-letters/discard")
@operation(DECIDE, object_of(_DISCARDED), takes=DiscardBody(), refuses=("409 count_mismatch",))
def discard_dead_letters() -> Response:
    """Delete all dead letters of a filter permanently, if their number is still `confirmCount`.

    409 `count_mismatch` with the current `count`, and nothing is discarded. The audit log keeps each job, the work left
    undone, and the reason.
    """
    values = body.load()
    filters = _filters(values)

    def discard() -> idempotency.Answer:
        dead = discards.any_org_discard_all(filters, confirmed=values["confirm_count"])
        for job in dead:
            details = {
                "filter": _audit_filter(filters),
                "why": values["why"],
                "jobs": [job.id],
                "job": discards.audit_data(job),
            }
            audit.record(
                "job.discarded", str(job.id), after=details, organization_id=job.organization_id, now=clock.now()
            )
        return 200, {"discarded": [job.id for job in dead]}

    return idempotency.run_once_for_operator(discard)


def _audit_filter(filters: DeadFilters) -> dict[str, str | None]:
    values = {"queue": filters.queue, "name": filters.name, "organizationId": _text(filters.organization_id)}
    return values | ({"error": filters.error} if filters.error else {})


def _filters(values: Mapping[str, Any]) -> DeadFilters:
    return DeadFilters(values["queue"], values["name"], values["organization_id"], values["error"] or None)


def _job_id(number: str) -> int:
    if not _NUMBER.fullmatch(number):
        raise Refused(404, "not_found", "This dead letter does not exist.")
    return int(number)


def _text(value: UUID | None) -> str | None:
    return None if value is None else str(value)


def _serialize(job: JobRow) -> dict[str, object]:
    names = (
        "id",
        "queue",
        "name",
        "organization_id",
        "args",
        "attempt",
        "asked_by",
        "created_at",
        "failed_at",
        "leaves",
    )
    return {name: getattr(job, name) for name in names} | {"last_line": job.error_line}


def _cursor(rows: Sequence[JobRow]) -> str:
    failed_at = rows[-1].failed_at
    assert isinstance(failed_at, datetime)  # every dead letter has failed
    return paging.sign_cursor(failed_at, UUID(int=rows[-1].id))
