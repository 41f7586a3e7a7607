"""Whom a row means: its affiliate and its customer among the items of the same switch."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from domain import emails
from domain.statuses import AffiliateStatus
from domain.switches.records import AffiliateRef, Record, SourceAffiliate, SourceCommission, SourceCustomer
from domain.switches.rules import customer_ids, customer_rules, link_rules
from domain.switches.sources import ONLY_CAMPAIGN, Collection
from models.switches.judgement import item_lookups, items
from models.switches.judgement.item_lookups import AffiliateItem, CustomerItem
from pipelines.switches.understanding import item_building
from pipelines.switches.understanding.context import Judging

# Rows that bring an affiliate who is not in the source's list any more.
_MENTIONING = (Collection.Customers, Collection.Commissions)


def resolve_affiliates(
    judging: Judging, collection: str, built: Mapping[str, dict[str, Any]], records: Mapping[str, Record]
) -> None:
    """Set `affiliate_ref` and `program_id` of items to those of the affiliate that their row names.

    An email that no affiliate has becomes a mention where a customer or commission names it. Budget: 1 round trip.
    """
    refs = [ref for record in records.values() if (ref := getattr(record, "affiliate", None))]
    mentions = set_affiliates(judging, collection, built, records, existing=_find_affiliates(judging, refs))
    items.stage_add(**judging.switch.key, items=mentions)


def set_affiliates(
    judging: Judging,
    collection: str,
    built: Mapping[str, dict[str, Any]],
    records: Mapping[str, Record],
    *,
    existing: Mapping[str, Sequence[AffiliateItem]],
) -> list[dict[str, Any]]:
    """Set the affiliates of items, and return the items of mentions. `existing` are affiliates by each name of theirs.

    A name is a source id, a key of `affiliate_key`, or the normalized token of a link.
    """
    refs = {source_id: ref for source_id, record in records.items() if (ref := getattr(record, "affiliate", None))}
    mentions: dict[str, dict[str, Any]] = {}
    for source_id, item in built.items():
        record, ref = records.get(source_id), refs.get(source_id)
        campaign = item["campaign_ref"] or (ref.campaign if ref else None)
        item["program_id"] = judging.program_of(campaign)
        if ref is None or record is None:
            continue
        owner = _choose_affiliate(judging, ref, campaign, existing)
        if owner is not None:
            item["affiliate_ref"], item["program_id"] = owner.source_id, owner.program_id
            item["campaign_ref"] = item["campaign_ref"] or owner.campaign
        elif ref.email and collection in _MENTIONING:
            mention = _mention(judging, ref, campaign)
            mentions.setdefault(mention["source_id"], mention)
            item["affiliate_ref"], item["program_id"] = mention["source_id"], mention["program_id"]
    return list(mentions.values())


def _find_affiliates(judging: Judging, refs: Iterable[AffiliateRef]) -> dict[str, list[AffiliateItem]]:
    ids: set[str] = set()
    keys: set[str] = set()
    tokens: set[str] = set()
    programs = judging.all_program_keys()
    for ref in refs:
        if ref.id is not None:
            ids.add(ref.id)
        if ref.email:
            keys.update(f"{program}|{ref.email.strip().lower()}" for program in programs)
        if ref.token and (token := link_rules.normalize_token(ref.token)):
            tokens.add(token)
    existing: dict[str, list[AffiliateItem]] = defaultdict(list)
    for row in item_lookups.find_affiliates(
        **judging.switch.key, ids=sorted(ids), keys=sorted(keys), tokens=sorted(tokens)
    ):
        existing[row.name].append(row)
    return existing


def _choose_affiliate(
    judging: Judging, ref: AffiliateRef, campaign: str | None, existing: Mapping[str, Sequence[AffiliateItem]]
) -> AffiliateItem | None:
    candidates: list[AffiliateItem] = []
    if ref.id is not None:
        candidates += existing.get(ref.id, ())
    if not candidates and ref.email:
        email = ref.email.strip().lower()
        candidates += [row for key in judging.all_program_keys() for row in existing.get(f"{key}|{email}", ())]
    if not candidates and ref.token and (token := link_rules.normalize_token(ref.token)):
        candidates += existing.get(token, ())
    if campaign is not None:
        candidates.sort(key=lambda row: row.campaign != campaign)  # stable: those of the campaign come first
    return candidates[0] if candidates else None


def _mention(judging: Judging, ref: AffiliateRef, campaign: str | None) -> dict[str, Any]:
    email = (ref.email or "").strip().lower()
    campaign = campaign or (judging.campaigns[0].source_id if judging.campaigns else ONLY_CAMPAIGN)
    affiliate = SourceAffiliate(
        source_id=f"mention:{campaign}:{email}"[:300],
        campaign=campaign,
        email=email,
        full_name=ref.name,
        status=AffiliateStatus.Rejected,
        word="",
        is_mention=True,
    )
    return item_building.mention_item(judging, affiliate.source_id, affiliate)


def resolve_customers(judging: Judging, built: Mapping[str, dict[str, Any]], records: Mapping[str, Record]) -> None:
    """Set `customer_ref` of commissions to the key of their customer, and fill in the customer's names.

    A customer without an item gets one. Budget: 1 round trip.
    """
    names_by_id = {
        source_id: _Names(judging, record, built[source_id]["program_id"])
        for source_id, record in records.items()
        if isinstance(record, SourceCommission)
    }
    directory = _Directory(judging, names_by_id.values())
    added: dict[str, dict[str, Any]] = {}
    for source_id, names in names_by_id.items():
        item = built[source_id]
        row = directory.find(names)
        if row is not None:
            names.fill_from(row)
        elif names.key is not None:
            customer = names.customer(item["affiliate_ref"])
            added.setdefault(customer["source_id"], customer | {"program_id": item["program_id"]})
        item["customer_ref"] = row.key if row is not None else names.key
        item["record"] = names.as_json()
        item["label"] = (names.email or item["label"])[:200]
    items.stage_add(**judging.switch.key, items=list(added.values()))


class _Names:
    """The names of a commission's customer, by the rule of the options."""

    def __init__(self, judging: Judging, record: SourceCommission, program_id: UUID | None) -> None:
        chosen = customer_ids.choose(
            billing_id=record.billing_id,
            claimed_id=record.claimed_id,
            email=record.customer_email,
            rule=judging.options.customer_id_is,
        )
        self._judging = judging
        self._record, self._program_id = record, program_id
        self.program = judging.program_key(program_id)
        self.source_id = record.customer
        self.billing_id, self.email = chosen.billing_id, chosen.email
        self.subscription_id, self.name = record.subscription_id, record.customer_name

    @property
    def inbox(self) -> str | None:
        return emails.normalize(self.email) if self.email else None

    @property
    def key(self) -> str | None:
        return customer_rules.key(
            program=self.program, billing_id=self.billing_id, subscription_id=self.subscription_id, email=self.inbox
        )

    @property
    def inbox_ref(self) -> str | None:
        return f"{self.program}|inbox:{self.inbox}" if self.inbox else None

    def fill_from(self, row: CustomerItem) -> None:
        self.billing_id = self.billing_id or row.billing_id
        self.subscription_id = self.subscription_id or row.subscription_id
        self.email = self.email or row.email
        self.name = self.name or row.name

    def customer(self, affiliate_ref: str | None) -> dict[str, Any]:
        """Return the item of a customer whom only commissions name."""
        key = self.key or ""
        customer = SourceCustomer(
            source_id=f"of:{self._program_id}:{key.split('|', 1)[1]}"[:300],
            affiliate=None,
            campaign=self._record.campaign,
            billing_id=self.billing_id,
            subscription_id=self.subscription_id,
            email=self.email,
            name=self.name,
        )
        return item_building.customer_item(self._judging, customer, affiliate_ref=affiliate_ref, key=key)

    def as_json(self) -> dict[str, Any]:
        record = {name: getattr(self._record, name) for name in self._record.__slots__ if name != "affiliate"}
        return record | {
            "billing_id": self.billing_id,
            "subscription_id": self.subscription_id,
            "customer_email": self.email,
            "customer_name": self.name,
        }


class _Directory:
    """The customers among the items, by source id, key and inbox."""

    def __init__(self, judging: Judging, named: Iterable[_Names]) -> None:
        ids, keys, inboxes = set(), set(), set()
        for names in named:
            if names.source_id is not None:
                ids.add(names.source_id)
            if names.key is not None:
                keys.add(names.key)
            if names.inbox_ref is not None:
                inboxes.add(names.inbox_ref)
        rows = item_lookups.find_customers(
            **judging.switch.key, ids=sorted(ids), keys=sorted(keys), inboxes=sorted(inboxes)
        )
        self._by_id = {row.source_id: row for row in rows}
        self._by_key = {row.key: row for row in reversed(rows) if row.key}
        self._by_inbox: dict[str, dict[str, CustomerItem]] = defaultdict(dict)
        for row in rows:
            if row.customer_ref and row.key:
                self._by_inbox[row.customer_ref][row.key] = row

    def find(self, names: _Names) -> CustomerItem | None:
        """Return the customer's row: by the source's own id, then by the names, then by an inbox of one customer."""
        row = self._by_id.get(names.source_id or "")
        if row is not None and row.key is not None:
            return row
        row = self._by_key.get(names.key or "")
        if row is not None:
            return row
        same_inbox = self._by_inbox.get(names.inbox_ref or "", {})
        is_certain = names.billing_id is None and names.subscription_id is None and len(same_inbox) == 1
        return next(iter(same_inbox.values())) if is_certain else None
