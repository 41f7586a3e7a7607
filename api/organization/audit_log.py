"""The audit log, for the brand's owner: in pages, or all of it as CSV.

An integration sees the changes, but neither the person nor the address.
Source: core spec, "Audit log".
"""

import csv
import dataclasses
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

import orjson
from flask import Blueprint, Response, request
from marshmallow import ValidationError

from adapters import clock
from adapters.clicks import visitors
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body
from api.edge.operations import object_of, operation
from api.edge.replica.request_reads import PieceReader
from domain.organization import actors, plans
from domain.organization.access import Role
from domain.text import csv_cells
from models import db
from models.listing import Position
from models.organization import audit_log
from models.organization.audit_log import AuditEntry, AuditFilters
from schemas.organization.audit_log import AuditEntryRecord, AuditPage, AuditQuery

blueprint = Blueprint("audit_log", __name__)

_READ = Guard(audience="brand", role=Role.Owner, plan=plans.Tier.Pro)

_RECORD = AuditEntryRecord()
_PAGE = AuditPage()

_MAX_PER_PAGE = 100
_MAX_CSV_ROWS = 50_000
_CSV_PIECE_ROWS = 500
# The heading and the field of each column.
_COLUMNS = {
    "id": "id",
    "action": "action",
    "entity_type": "entityType",
    "entity_id": "entityId",
    "actor_type": "actorType",
    "before": "before",
    "after": "after",
    "created_at": "createdAt",
}
_OWNER_COLUMNS = {**_COLUMNS, "actor_user_id": "actorUserId", "ip": "ip", "user_agent": "userAgent"}


@blueprint.get("/api/v1/audit-log")
@operation(
    _READ,
    object_of(_PAGE),
    asks=AuditQuery(),
    gives_as=("text/csv",),
    samples={"text/csv": ",".join(_COLUMNS)},
    may_lag="pieces",
    writes=True,
)
def list_audit_log() -> Response | Mapping[str, object]:
    """List changes, newest first. With `format=csv` or `Accept: text/csv` all of it, up to 50,000 rows."""
    query = body.query()
    filters = _filters(query)
    if _wants_csv(query):
        return _csv_answer(filters)
    size, organization_id = min(query["page_size"], _MAX_PER_PAGE), guards.organization_id()
    skip = (query["page"] - 1) * size
    with db.read_only(), db.unit_of_work(organization_id):
        total = audit_log.count(organization_id=organization_id, filters=filters)
        is_within = skip < total
        rows = (
            audit_log.page(organization_id=organization_id, filters=filters, skip=skip, limit=size) if is_within else []
        )
    total = max(total, skip + len(rows)) if rows else total  # entries may have been added since the count
    record: Mapping[str, object] = _PAGE.dump(
        {"page": query["page"], "page_size": size, "total": total, "items": _redact(rows)}
    )
    return record


def _filters(query: Mapping[str, Any]) -> AuditFilters:
    shared = AuditFilters(
        action=query["action"], entity_type=query["entity_type"], since=query["since"], until=query["until"]
    )
    if guards.caller().is_integration:
        return shared
    return dataclasses.replace(shared, actor_user_id=_user_id(query["actor_user_id"]), ips=_ips(query["ip"]))


def _ips(ip: str | None) -> tuple[str, ...] | None:
    # An old entry has the address as its keyed hash.
    return None if ip is None else (ip, *visitors.list_erased_hashes(ip))


def _user_id(text: str | None) -> UUID | None:
    try:
        return UUID(text) if text is not None else None
    except ValueError as error:
        raise ValidationError({"actorUserId": ["Not a valid UUID."]}) from error


def _wants_csv(query: Mapping[str, Any]) -> bool:
    if query["format"] is not None:
        return bool(query["format"] == "csv")
    return request.accept_mimetypes.best_match(["application/json", "text/csv"]) == "text/csv"


def _redact(rows: Sequence[AuditEntry]) -> Sequence[AuditEntry]:
    if not guards.caller().is_integration:
        return [_remove_place(row) if row.actor_type == "operator" else row for row in rows]
    return [_remove_person(row) for row in rows]


def _remove_place(entry: AuditEntry) -> AuditEntry:
    # A brand sees the email of an operator, but not their IP address.
    return dataclasses.replace(entry, ip=None, user_agent=None)


def _remove_person(entry: AuditEntry) -> AuditEntry:
    label = actors.label_for_keys(entry.actor_type, entry.actor_label)
    return dataclasses.replace(_remove_place(entry), actor_user_id=None, actor_label=label)


def _csv_answer(filters: AuditFilters) -> Response:
    organization_id, is_integration = guards.organization_id(), guards.caller().is_integration
    with db.unit_of_work(organization_id):
        audit.record("audit_log.exported", organization_id, after={"format": "csv"}, now=clock.now())
    columns = _COLUMNS if is_integration else _OWNER_COLUMNS
    answer = Response(_csv(organization_id, filters, columns, PieceReader()), content_type="text/csv; charset=utf-8")
    answer.headers["Content-Disposition"] = 'attachment; filename="audit-log.csv"'
    return answer


def _csv(
    organization_id: UUID, filters: AuditFilters, columns: Mapping[str, str], reader: PieceReader
) -> Iterator[str]:
    yield _csv_lines([list(columns)])
    position: Position | None = None
    left = _MAX_CSV_ROWS

    def next_rows() -> list[AuditEntry]:
        # One transaction per piece: a reader who takes an hour keeps none open, and memory holds one piece.
        with db.unit_of_work(organization_id):
            return audit_log.list_after(
                organization_id=organization_id, filters=filters, position=position, limit=min(left, _CSV_PIECE_ROWS)
            )

    while left > 0:
        rows = reader.read(next_rows)
        if not rows:
            return
        records = _RECORD.dump(rows, many=True)
        yield _csv_lines([[_cell(row[field]) for field in columns.values()] for row in records])
        position, left = (rows[-1].created_at, rows[-1].id), left - len(rows)


def _cell(value: object) -> str:
    if value is None:
        return ""
    return csv_cells.escape(value if isinstance(value, str) else orjson.dumps(value).decode())


def _csv_lines(rows: Sequence[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()
