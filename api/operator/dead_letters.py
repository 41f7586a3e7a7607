"""Dead letters: jobs that gave up. An operator looks at them, runs them again, or discards them with a reason."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.edge import audit, body, idempotency, paging
from api.edge.operations import EMPTY, object_of, operation, page
from api.edge.relay_waker import wake_relay
from api.operator.guarding import DECIDE, READ, WRITE
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

# Every job of an installation is counted, and some see a thousand a second.
_NUMBER = re.compile(r"[1-9][0-9]{0,17}")


@blueprint.get("/api/operator/dead-letters")
@operation(READ, page(_RECORD), asks=DeadLettersQuery())
def list_dead_letters() -> Mapping[str, object]:
    """List dead letters of a queue, a kind of job, an organization or an error, the newest first.

    Each says what a discard of it leaves undone. Budget: 1 round trip.
    """
    query = body.query()
    asked = paging.read_page_request(query)
    after = (asked.after[0], asked.after[1].int) if asked.after else None
    with db.any_org_work():
        rows = admin_queries.any_org_dead_page(_filters(query), after=after, limit=asked.limit)
    shown, has_more = rows[: asked.take], len(rows) > asked.take
    items = _RECORD.dump([_listed(row) for row in shown], many=True)
    return {"items": items, "nextCursor": _cursor(shown) if has_more else None, "hasMore": has_more}


@blueprint.get("/api/operator/dead-letters/count")
@operation(READ, object_of(_COUNT), asks=DeadLettersFilter())
def count_dead_letters() -> Mapping[str, object]:
    """Count the dead letters of a queue, a kind of job, an organization or an error. Budget: 1 round trip."""
    with db.any_org_work():
        return {"count": admin_queries.any_org_count_dead(_filters(body.query()))}


@blueprint.get("/api/operator/dead-letters/kinds")
@operation(READ, object_of(_SUMMARY), asks=DeadLettersFilter())
def summarize_dead_letters() -> Mapping[str, object]:
    """Count the dead letters of a filter by kind, with what a discard of them leaves undone and the sums per currency.

    Budget: 1 round trip.
    """
    with db.any_org_work():
        kinds = discards.any_org_summarize(_filters(body.query()))
    shown: Mapping[str, object] = _SUMMARY.dump({"count": sum(kind.count for kind in kinds), "kinds": kinds})
    return shown


@blueprint.get("/api/operator/dead-letters/<number>")
@operation(READ, object_of(_WHOLE), refuses=("404 not_found",))
def get_dead_letter(number: str) -> Mapping[str, object]:
    """Show one dead letter with its arguments, the traceback of its last attempt, and what asked for it.

    Budget: 1 round trip.
    """
    wanted = _job_id(number)
    with db.any_org_work():
        job = job_queues.any_org_find_dead(wanted)
    shown: Mapping[str, object] = _WHOLE.dump({**_listed(job), "last_error": job.last_error})
    return shown


@blueprint.post("/api/operator/dead-letters/<number>/replay")
@operation(WRITE, object_of(_REPLAYED), takes=Nothing(), refuses=("403 fresh_login_required", "404 not_found"))
def replay_dead_letter(number: str) -> Response:
    """Run a dead letter again, with a fresh count of attempts.

    One of the queue `payouts` has money moved, and wants a login of the last hour.
    """
    wanted = _job_id(number)
    body.load_optional()
    with db.any_org_work():
        moves_money = job_queues.any_org_moves_money(wanted)
    if moves_money:
        guards.check_fresh_login(guards.operator().signed_in_at, within_s=guards.FRESH_S)

    def replay() -> idempotency.Answer:
        job = job_queues.any_org_replay_one(wanted)
        said = {"jobs": [wanted], "name": job.name}
        audit.record("job.replayed", str(wanted), after=said, organization_id=job.organization_id, now=clock.now())
        return 200, {"replayed": [wanted]}

    answer = idempotency.run_once_for_operator(replay)
    wake_relay()
    return answer


@blueprint.post("/api/operator/dead-letters/<number>/discard")
@operation(DECIDE, EMPTY, status=204, takes=WhyBody(), refuses=("404 not_found",))
def discard_dead_letter(number: str) -> Response:
    """Delete a dead letter for good. The audit log keeps what it was, what it leaves undone, and why."""
    wanted, why = _job_id(number), body.load()["why"]

    def discard() -> idempotency.Answer:
        job = discards.any_org_discard_one(wanted)
        said = {"why": why, "jobs": [wanted], "job": discards.audit_data(job)}
        audit.record("job.discarded", str(wanted), after=said, organization_id=job.organization_id, now=clock.now())
        return 204, None

    return idempotency.run_once_for_operator(discard)


@blueprint.post("/api/operator/dead-letters/replay")
@operation(DECIDE, object_of(_REPLAYED), takes=ReplayBody(), refuses=("409 count_mismatch",))
def replay_dead_letters() -> Response:
    """Run all dead letters of a filter again, if there are still as many as `confirmCount` says.

    409 `count_mismatch` with the `count` that there is now, and nothing is replayed.
    """
    wanted = body.load()
    filters = _filters(wanted)

    def replay() -> idempotency.Answer:
        replayed = job_queues.any_org_replay_all(filters, confirmed=wanted["confirm_count"])
        said = {
            "filter": _audited_filter(filters),
            "count": len(replayed),
            "jobs": list(replayed[:1000]),
            "why": wanted["why"],
        }
        audit.record("job.replayed", "filter", after=said, now=clock.now())
        return 200, {"replayed": list(replayed)}

    answer = idempotency.run_once_for_operator(replay)
    wake_relay()
    return answer


@blueprint.post("/api/operator/dead-letters/discard")
@operation(DECIDE, object_of(_DISCARDED), takes=DiscardBody(), refuses=("409 count_mismatch",))
def discard_dead_letters() -> Response:
    """Delete all dead letters of a filter for good, if there are still as many as `confirmCount` says.

    409 `count_mismatch` with the `count` that there is now, and nothing is discarded. The audit log keeps what each
    was, what it leaves undone, and why.
    """
    wanted = body.load()
    filters = _filters(wanted)

    def discard() -> idempotency.Answer:
        dead = discards.any_org_discard_all(filters, confirmed=wanted["confirm_count"])
        for job in dead:
            said = {
                "filter": _audited_filter(filters),
                "why": wanted["why"],
                "jobs": [job.id],
                "job": discards.audit_data(job),
            }
            audit.record("job.discarded", str(job.id), after=said, organization_id=job.organization_id, now=clock.now())
        return 200, {"discarded": [job.id for job in dead]}

    return idempotency.run_once_for_operator(discard)


def _audited_filter(filters: DeadFilters) -> dict[str, str | None]:
    asked = {"queue": filters.queue, "name": filters.name, "organizationId": _text(filters.organization_id)}
    return asked | ({"error": filters.error} if filters.error else {})


def _filters(wanted: Mapping[str, Any]) -> DeadFilters:
    return DeadFilters(wanted["queue"], wanted["name"], wanted["organization_id"], wanted["error"] or None)


def _job_id(number: str) -> int:
    if not _NUMBER.fullmatch(number):
        raise Refused(404, "not_found", "There is no such dead letter.")
    return int(number)


def _text(value: UUID | None) -> str | None:
    return None if value is None else str(value)


def _listed(job: JobRow) -> dict[str, object]:
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


def _cursor(shown: Sequence[JobRow]) -> str:
    failed_at = shown[-1].failed_at
    assert isinstance(failed_at, datetime)  # the dead letters of a list have failed
    return paging.sign_cursor(failed_at, UUID(int=shown[-1].id))
