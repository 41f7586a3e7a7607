"""Items as dictionaries of the columns of `switch_item`, and the keys by which rows find each other."""

from typing import Any
from uuid import UUID

from domain import emails
from domain.switches.reasons import LeftOutReason
from domain.switches.records import Record, SourceAffiliate, SourceCustomer
from domain.switches.sources import Collection
from pipelines.switches.understanding.context import Judging

MAX_LABEL_CHARS = 200
_MENTION, _CUSTOMER_OF = "mention", "of:"


def new_item(
    collection: str, source_id: str, *, problem: LeftOutReason | None = None, record: Record | None = None
) -> dict[str, Any]:
    """Return an item without more than its record; all items of a statement have the same columns."""
    return {
        "collection": collection,
        "source_id": source_id,
        "record": record,
        "problem": problem,
        "label": source_id[:MAX_LABEL_CHARS],
        "key": None,
        "affiliate_ref": None,
        "campaign_ref": None,
        "customer_ref": None,
        "program_id": None,
        "kind": None,
        "currency": None,
        "amount_cents": None,
        "commission_cents": None,
        "occurred_at": None,
        "warnings": [],
    }


def affiliate_key(judging: Judging, program_id: UUID | None, email: str) -> str:
    """Return the key of one person in one program."""
    return f"{judging.program_key(program_id)}|{email.strip().lower()}"


def mention_item(judging: Judging, source_id: str, affiliate: SourceAffiliate) -> dict[str, Any]:
    """Return the item of an affiliate whom only another row names."""
    item = new_item(Collection.Affiliates, source_id, record=affiliate)
    return item | affiliate_fields(judging, affiliate)


def customer_item(judging: Judging, customer: SourceCustomer, *, affiliate_ref: str | None, key: str) -> dict[str, Any]:
    """Return the item of a customer whom only commissions name; `key` has the program in it."""
    item = new_item(Collection.Customers, customer.source_id, record=customer)
    fields = {"label": customer_label(customer), "key": key, "affiliate_ref": affiliate_ref}
    item |= fields | {"campaign_ref": customer.campaign, "customer_ref": inbox_ref(key, customer.email)}
    return item


def inbox_ref(key: str, email: str | None) -> str | None:
    """Return the `customer_ref` of a customer's item: their inbox in the program of `key`."""
    return f"{key.split('|', 1)[0]}|inbox:{emails.normalize(email)}" if email else None


def affiliate_fields(judging: Judging, record: SourceAffiliate) -> dict[str, Any]:
    """Return the columns of an affiliate's item that differ from those of a new one."""
    program_id = judging.program_of(record.campaign)
    return {
        "label": record.email or record.full_name or record.source_id,
        "key": affiliate_key(judging, program_id, record.email) if record.email else None,
        "campaign_ref": record.campaign,
        "program_id": program_id,
        "kind": _MENTION if record.is_mention else None,
        "warnings": ["unknown_status"] * (record.status is None) + ["recruits_not_brought"] * record.has_recruiter,
    }


def customer_label(record: SourceCustomer) -> str:
    """Return the text by which people recognize a customer."""
    return record.email or record.name or record.billing_id or record.claimed_id or record.source_id


def is_implied(kind: str | None, source_id: str) -> bool:
    """Return whether no list of the source has an affiliate or customer: other rows alone name them."""
    return kind == _MENTION or source_id.startswith(_CUSTOMER_OF)
