"""What Run would write: the preview of a switch, and its rows as a list and as a file."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

from api.access import guards
from api.edge import body, paging
from api.edge.operations import object_of, operation, page, text
from api.edge.replica import csv_files
from api.switches import records
from domain.refusals import Refused
from domain.switches.reason_texts import REASON_TEXTS
from models import db
from models.switches import switches
from models.switches.judgement import items
from models.switches.judgement.items import ListedItem
from schemas.switches.preview import SwitchPreviewRecord, SwitchRowRecord, SwitchRowsFilter, SwitchRowsQuery
from schemas.switches.switch import SwitchCampaignTerms

blueprint = Blueprint("switch_preview", __name__)

_PREVIEW = SwitchPreviewRecord()
_ROW = SwitchRowRecord()
_TERMS = SwitchCampaignTerms()
_FILTERS = ("collection", "verdict", "reason")
_HEADINGS = (
    "collection",
    "source_id",
    "label",
    "verdict",
    "reason",
    "currency",
    "amount_cents",
    "commission_cents",
    "target_type",
    "target_id",
    "affiliate",
    "occurred_at",
    "reason_text",
)


@blueprint.get("/api/v1/switches/<switch_id>/preview")
@operation(records.READ, object_of(_PREVIEW), refuses=("404 not_found", "409 switch_not_ready"))
def preview_switch(switch_id: str) -> Mapping[str, object]:
    """Show what Run would write, what is left out and why, and how it compares with the source's own figures."""
    id, organization_id = records.parse_id(switch_id), guards.organization_id()
    with db.unit_of_work(organization_id):
        _require_judged(id)
        switch = switches.find(organization_id=organization_id, switch_id=id)
        preview = switch.preview if switch else None
        if preview is None:
            raise _not_ready()
        warnings = _name_examples(preview["warnings"], organization_id, id)
    as_of = datetime.fromisoformat(preview["as_of"])
    terms = [_compare(row) for row in preview["terms"]]
    record: Mapping[str, object] = _PREVIEW.dump({**preview, "as_of": as_of, "terms": terms, "warnings": warnings})
    return record


@blueprint.get("/api/v1/switches/<switch_id>/rows")
@operation(
    records.READ,
    page(_ROW),
    asks=SwitchRowsQuery(),
    refuses=("404 not_found", "409 switch_not_ready"),
)
def list_switch_rows(switch_id: str) -> Mapping[str, object]:
    """List the rows of the source with their verdicts, filtered by collection, verdict and reason."""
    id, query = records.parse_id(switch_id), body.query()
    take = min(query["take"] or paging.DEFAULT_TAKE, paging.MAX_TAKE)
    after = paging.key_from_cursor(query["cursor"])
    with db.unit_of_work(guards.organization_id()):
        _require_judged(id)
        rows, following = items.list_rows(
            organization_id=guards.organization_id(),
            switch_id=id,
            take=take,
            cursor=(after[0], after[1]) if after else None,
            **{name: query[name] for name in _FILTERS},
        )
    next_cursor = paging.sign_key_cursor(following) if following else None
    return {"items": [_serialize(row) for row in rows], "nextCursor": next_cursor, "hasMore": following is not None}


@blueprint.get("/api/v1/switches/<switch_id>/rows.csv")
@operation(
    records.READ,
    text("text/csv"),
    asks=SwitchRowsFilter(),
    samples={"text/csv": ",".join(_HEADINGS)},
    refuses=("404 not_found", "409 switch_not_ready"),
    may_lag="pieces",
)
def export_switch_rows(switch_id: str) -> Response:
    """Export the rows with their verdicts as CSV, up to 50,000, with the filters of the list."""
    id, query, organization_id = records.parse_id(switch_id), body.query(), guards.organization_id()
    with db.unit_of_work(organization_id):
        _require_judged(id)

    def read(after: tuple[str, str] | None, limit: int) -> csv_files.FilePiece | None:
        rows, _ = items.list_rows(
            organization_id=organization_id,
            switch_id=id,
            take=limit,
            cursor=after,
            **{name: query[name] for name in _FILTERS},
        )
        if not rows:
            return None
        return csv_files.FilePiece([_line(row) for row in rows], (rows[-1].collection, rows[-1].source_id))

    return csv_files.stream("switch-rows.csv", _HEADINGS, organization_id, read)


def _name_examples(
    warnings: Sequence[Mapping[str, Any]], organization_id: UUID, switch_id: UUID
) -> list[Mapping[str, Any]]:
    """Return warnings whose example is a row in words for people instead of its id. Budget: 1 round trip."""
    examples = [warning["example"] for warning in warnings if warning["example"]]
    if not examples:
        return list(warnings)
    labels = items.find_labels(
        organization_id=organization_id,
        switch_id=switch_id,
        collections=items.LISTED_COLLECTIONS,
        source_ids=examples,
    )
    return [{**warning, "example": labels.get(warning["example"], warning["example"])} for warning in warnings]


def _compare(terms: Mapping[str, Any]) -> dict[str, Any]:
    """Return a comparison of terms with the names of the answer."""
    theirs, ours = records.parse_terms(terms["theirs"]), records.parse_terms(terms["ours"])
    differ = [_TERMS.fields[name].data_key for name in terms["differ"] if name in _TERMS.fields]
    return {**terms, "theirs": theirs, "ours": ours, "differ": differ}


def _require_judged(switch_id: UUID) -> None:
    if not records.require(switch_id).has_preview:
        raise _not_ready()


def _not_ready() -> Refused:
    return Refused(409, "switch_not_ready", "The account is not read yet, so there is no preview.")


def _serialize(row: ListedItem) -> dict[str, Any]:
    values = {name: getattr(row, name) for name in _ROW.fields if name != "target"}
    target = {"type": row.target_type, "id": row.target_id} if row.target_id else None
    return _ROW.dump(values | {"target": target})


def _line(row: ListedItem) -> tuple[str, ...]:
    # Text of the source is escaped; the other columns are the service's own words and numbers.
    return (
        row.collection,
        csv_files.text_cell(row.source_id),
        csv_files.text_cell(row.label),
        row.verdict or "",
        row.reason or "",
        csv_files.text_cell(row.currency),
        "" if row.amount_cents is None else str(row.amount_cents),
        "" if row.commission_cents is None else str(row.commission_cents),
        row.target_type or "",
        "" if row.target_id is None else str(row.target_id),
        csv_files.text_cell(row.affiliate),
        "" if row.occurred_at is None else row.occurred_at.isoformat(),
        REASON_TEXTS.get(row.reason, "") if row.reason else "",
    )
