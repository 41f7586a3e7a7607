"""Raw rows become items: the source understands each, and the names by which rows find each other are stored."""

from collections.abc import Mapping, Sequence
from typing import Any

from adapters.switches.base import SourceRow, UnreadableRow
from domain import emails
from domain.switches.reasons import LeftOutReason
from domain.switches.records import (
    Record,
    SourceAffiliate,
    SourceCode,
    SourceCommission,
    SourceCustomer,
    SourceLink,
    SourcePayout,
)
from domain.switches.rules import customer_ids, customer_rules, link_rules
from domain.switches.sources import Collection
from models.switches.judgement import items
from models.switches.judgement.judging_state import RawRow
from pipelines.switches.understanding import item_building, references
from pipelines.switches.understanding.context import Judging

_MAX_ID_CHARS = 300


def understand_slice(judging: Judging, collection: str, rows: Sequence[RawRow]) -> None:
    """Stage the items of raw rows. Of rows with one id the last counts, with the warning `equal_rows`.

    Affiliates whom only commissions or customers name, and customers whom only commissions name, become items too.
    Budget: 2 round trips for commissions, 1 for others, for any number of rows.
    """
    built: dict[str, dict[str, Any]] = {}
    records: dict[str, Record] = {}
    for row in rows:
        source_id, item, record = build_item(judging, collection, row)
        if source_id in built:
            item["warnings"] = [*item["warnings"], "equal_rows"]
        built[source_id] = item
        records.pop(source_id, None)
        if record is not None:
            records[source_id] = record
    if collection != Collection.Affiliates:
        references.resolve_affiliates(judging, collection, built, records)
    if collection == Collection.Customers:
        set_customer_keys(judging, built)
    if collection == Collection.Commissions:
        references.resolve_customers(judging, built, records)
    items.stage_store(**judging.switch.key, items=list(built.values()))


def build_item(judging: Judging, collection: str, row: RawRow) -> tuple[str, dict[str, Any], Record | None]:
    """Return the source id, the item and the record of a raw row; no record of one that cannot be read."""
    source_row = SourceRow(Collection(collection), row.source_id, row.data, row.is_mention)
    try:
        record = judging.source.understand(source_row, judging.source_context)
    except UnreadableRow as unreadable:
        item = item_building.new_item(collection, row.source_id, problem=LeftOutReason.UnreadableRow)
        item["label"] = (unreadable.label or row.source_id)[: item_building.MAX_LABEL_CHARS]
        return row.source_id, item, None
    source_id = getattr(record, "source_id", row.source_id)[:_MAX_ID_CHARS]
    problem = getattr(record, "problem", None)
    item = item_building.new_item(collection, source_id, problem=problem, record=record)
    item |= _FIELDS[type(record)](judging, record)
    item["label"] = str(item["label"] or source_id)[: item_building.MAX_LABEL_CHARS]
    return source_id, item, record


def _link_fields(judging: Judging, record: SourceLink) -> dict[str, Any]:
    is_foreign = link_rules.is_foreign(record.url, judging.own_hosts)
    return {
        "label": record.token,
        "key": link_rules.normalize_token(record.token),
        "campaign_ref": record.affiliate.campaign,
        "warnings": ["links_on_foreign_host"] if is_foreign else [],
    }


def _code_fields(judging: Judging, record: SourceCode) -> dict[str, Any]:
    code = record.code.strip().upper()
    return {"label": code, "key": code, "campaign_ref": record.affiliate.campaign}


def _customer_fields(judging: Judging, record: SourceCustomer) -> dict[str, Any]:
    names = customer_ids.choose(
        billing_id=record.billing_id,
        claimed_id=record.claimed_id,
        email=record.email,
        rule=judging.options.customer_id_is,
    )
    chosen = _as_json(record) | {"billing_id": names.billing_id, "email": names.email}
    return {
        "record": chosen,
        "label": item_building.customer_label(record),
        "campaign_ref": record.campaign,
        "occurred_at": record.first_paid_at or record.became_lead_at or record.created_at,
    }


def _commission_fields(judging: Judging, record: SourceCommission) -> dict[str, Any]:
    return {
        "label": record.customer_email or record.customer_name or record.payment or record.source_id,
        "key": record.payment,
        "campaign_ref": record.campaign,
        "kind": record.kind,
        "currency": record.currency,
        "amount_cents": record.amount_cents,
        "commission_cents": record.commission_cents,
        "occurred_at": record.occurred_at,
        "warnings": list(record.warnings),
    }


def _payout_fields(judging: Judging, record: SourcePayout) -> dict[str, Any]:
    return {
        "label": record.source_id,
        "kind": "paid" if record.is_done else "pending",
        "currency": record.currency,
        "amount_cents": record.cents,
    }


_FIELDS: Mapping[type, Any] = {
    SourceAffiliate: item_building.affiliate_fields,
    SourceLink: _link_fields,
    SourceCode: _code_fields,
    SourceCustomer: _customer_fields,
    SourceCommission: _commission_fields,
    SourcePayout: _payout_fields,
}


def _as_json(record: SourceCustomer) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__slots__}


def set_customer_keys(judging: Judging, built: Mapping[str, dict[str, Any]]) -> None:
    """Set the key and the inbox of customers, once their affiliates and thereby their programs are known."""
    for item in built.values():
        record = item["record"]
        if not isinstance(record, dict):
            continue
        item["key"] = customer_rules.key(
            program=judging.program_key(item["program_id"]),
            billing_id=record["billing_id"],
            subscription_id=record["subscription_id"],
            email=emails.normalize(record["email"]) if record["email"] else None,
        )
        if item["key"]:
            item["customer_ref"] = item_building.inbox_ref(item["key"], record["email"])
