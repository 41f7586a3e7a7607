"""Which customers of earlier switches of the same source the customers of this one are.

Source: the switch-over rules, "Customers" and "Known and changed".
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from domain import emails
from models.switches import brought_customers
from models.switches.brought_customers import BroughtCustomer
from models.switches.judgement import item_lookups
from models.switches.judgement.items import Item
from pipelines.switches.understanding.context import Judging


@dataclass(frozen=True, slots=True)
class CustomerToMatch:
    """A customer of this switch: the key and the program, the chosen row and all rows (source ids), and every name."""

    key: str
    program_id: UUID
    chosen_id: str
    source_ids: Collection[str]
    billing_id: str | None
    subscription_id: str | None
    inbox: str | None

    @property
    def inbox_ref(self) -> str | None:
        """The `customer_ref` that all customers of this switch with the same inbox and program have."""
        return f"{self.key.split('|', 1)[0]}|inbox:{self.inbox}" if self.inbox else None


def find_existing(judging: Judging, customers: Sequence[CustomerToMatch]) -> dict[str, BroughtCustomer]:
    """Return the customer of an earlier switch who each of these is, by key; new ones are left out.

    By an id of the source, then the billing id, the subscription, the email without another billing id; in the program
    first, else in another one that campaigns lead to. Budget: 3 round trips.
    """
    if not customers:
        return {}
    scope = _scope(judging)
    source_ids = {source_id for customer in customers for source_id in customer.source_ids}
    by_source_id = brought_customers.find_of_source(**scope, source_ids=sorted(source_ids))
    by_name = _find_by_names(judging, customers)
    lookup = _Lookup(judging, by_source_id, by_name, customers)
    existing: dict[str, BroughtCustomer] = {}
    used_ids: set[UUID] = set()
    for customer in sorted(customers, key=lambda customer: customer.key):
        match = next((row for row in lookup.list_matches(customer) if row.id not in used_ids), None)
        if match is not None:
            existing[customer.key] = match
            used_ids.add(match.id)
    return existing


def find_first_sales(judging: Judging, sales: Sequence[Item]) -> dict[str, tuple[str, str | None]]:
    """Return the source id and the payment of each customer's first sale, by `customer_ref`.

    Both are empty for a customer of an earlier switch who paid before. Budget: 2 round trips.
    """
    refs = {item.customer_ref for item in sales if item.customer_ref is not None}
    first_sales = item_lookups.find_first_sales(**judging.switch.key, customer_refs=sorted(refs))
    firsts = {}
    for item in sales:
        first_id, payment = first_sales.get(item.customer_ref or "", (None, None))
        if first_id == item.source_id or (payment is not None and payment == item.key):
            firsts[item.customer_ref or ""] = (item, _names_of_sale(item))
    index = _index(_find_by_names(judging, [names for _, names in firsts.values() if names is not None]))
    for customer_ref, (item, names) in firsts.items():
        matches = _list_by_name(index, names) if names else []
        if any(row.first_paid_at and item.occurred_at and row.first_paid_at < item.occurred_at for row in matches):
            first_sales[customer_ref] = ("", None)
    return first_sales


def _names_of_sale(item: Item) -> CustomerToMatch | None:
    record, program_id = item.record or {}, item.owner_program_id
    if program_id is None or item.customer_ref is None:
        return None
    return CustomerToMatch(
        key=item.customer_ref,
        program_id=program_id,
        chosen_id="",
        source_ids=(),
        billing_id=record.get("billing_id"),
        subscription_id=record.get("subscription_id"),
        inbox=normalize(record.get("customer_email")),
    )


def normalize(email: str | None) -> str | None:
    """Return the inbox of an email; None without one."""
    return emails.normalize(email) if email else None


def _scope(judging: Judging) -> dict[str, Any]:
    return {
        "organization_id": judging.switch.organization_id,
        "program_ids": [program.id for program in judging.programs],
        "source": judging.switch.source,
    }


def _find_by_names(judging: Judging, customers: Sequence[CustomerToMatch]) -> list[BroughtCustomer]:
    return brought_customers.find_by_names(
        **_scope(judging),
        customer_ids=sorted({customer.billing_id for customer in customers if customer.billing_id}),
        subscription_ids=sorted({customer.subscription_id for customer in customers if customer.subscription_id}),
        inboxes=sorted({customer.inbox for customer in customers if customer.inbox}),
    )


_Index = Mapping[tuple[str, str], Sequence[BroughtCustomer]]


def _index(rows: Iterable[BroughtCustomer]) -> _Index:
    """Return brought customers by kind of name and name, the newest evidence first."""
    index: dict[tuple[str, str], list[BroughtCustomer]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row.seen_at, row.id), reverse=True):
        names = {"id": row.customer_id, "subscription": row.subscription_id, "inbox": row.email_normalized}
        for kind, name in names.items():
            if name:
                index[kind, name].append(row)
    return index


def _list_by_name(index: _Index, customer: CustomerToMatch) -> list[BroughtCustomer]:
    """Return the brought customers of the same program with a name of the customer, the most certain first."""
    return [row for row in _list_in_all_programs(index, customer) if row.program_id == customer.program_id]


def _list_in_all_programs(index: _Index, customer: CustomerToMatch) -> list[BroughtCustomer]:
    by_inbox = [
        row
        for row in index.get(("inbox", customer.inbox or ""), ())
        if row.customer_id is None or customer.billing_id is None or row.customer_id == customer.billing_id
    ]
    by_inbox.sort(key=lambda row: row.customer_id != customer.billing_id)  # stable: the same id, or none, comes first
    is_certain = len({row.customer_id for row in by_inbox if row.customer_id}) <= 1
    return [
        *index.get(("id", customer.billing_id or ""), ()),
        *index.get(("subscription", customer.subscription_id or ""), ()),
        *(by_inbox if is_certain else ()),
    ]


class _Lookup:
    """The customers of earlier switches, and the rows of this switch to which they belong."""

    def __init__(
        self,
        judging: Judging,
        by_source_id: Sequence[BroughtCustomer],
        by_name: Sequence[BroughtCustomer],
        customers: Sequence[CustomerToMatch],
    ) -> None:
        self._by_source_id: dict[str, list[BroughtCustomer]] = defaultdict(list)
        for row in by_source_id:
            self._by_source_id[row.source_id].append(row)
        self._index = _index(by_name)
        shared = {row.email_normalized for row in by_name}
        refs = {customer.inbox_ref for customer in customers if customer.inbox_ref and customer.inbox in shared}
        items = item_lookups.find_customers(
            **judging.switch.key,
            ids=sorted({row.source_id for row in by_name}),
            keys=[],
            inboxes=sorted(refs),
        )
        usable = [item for item in items if item.key is not None and item.problem is None]
        self._key_of_row = {item.source_id: item.key for item in usable}
        self._keys_of_inbox: dict[str, set[str]] = defaultdict(set)
        for item in usable:
            if item.customer_ref is not None and item.key is not None:
                self._keys_of_inbox[item.customer_ref].add(item.key)

    def list_matches(self, customer: CustomerToMatch) -> list[BroughtCustomer]:
        """Return who the customer may be, the most certain first; those of the customer's own program before others."""
        ids = sorted(customer.source_ids, key=lambda source_id: (source_id != customer.chosen_id, source_id))
        rows = [row for source_id in ids for row in self._by_source_id.get(source_id, ())]
        rows += [row for row in _list_in_all_programs(self._index, customer) if self._may_be(row, customer)]
        return sorted(rows, key=lambda row: row.program_id != customer.program_id)  # stable

    def _may_be(self, row: BroughtCustomer, customer: CustomerToMatch) -> bool:
        """Return whether no other customer of this switch is the one whose name agrees."""
        if self._key_of_row.get(row.source_id, customer.key) != customer.key:
            return False
        if row.customer_id is not None and row.customer_id == customer.billing_id:
            return True
        if row.subscription_id is not None and row.subscription_id == customer.subscription_id:
            return True
        return self._keys_of_inbox.get(customer.inbox_ref or "", set()) <= {customer.key}
