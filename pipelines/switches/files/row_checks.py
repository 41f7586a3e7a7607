"""Why the first rows of files are left out, by the rules of judging, before a switch is judged.

Only what a row, its affiliate and the mapping say counts here: neither records of the brand nor other rows with the
same id, code or token.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote

from domain.switches.files.file_fields import FIGURES, normalize_heading
from domain.switches.reasons import LeftOutReason, SwitchVerdict
from domain.switches.records import AffiliateRef, Record
from domain.switches.rules import affiliate_rules, link_rules
from domain.switches.sources import Collection
from domain.switches.states import SwitchState
from models.switches.judgement.item_lookups import AffiliateItem
from models.switches.judgement.items import Item
from models.switches.judgement.judging_state import RawRow
from models.switches.staging import file_parts
from models.switches.staging.file_parts import StoredFileRow
from models.switches.switches import Switch
from pipelines.switches.files import file_mapping
from pipelines.switches.judgement import (
    affiliate_verdicts,
    code_verdicts,
    commission_verdicts,
    customer_verdicts,
    link_verdicts,
)
from pipelines.switches.understanding import context, references, slices
from pipelines.switches.understanding.context import Judging

_REASONS: Final[Mapping[str, Callable[[Judging, Item], LeftOutReason | None]]] = {
    Collection.Links: link_verdicts.reason_for_row,
    Collection.Codes: code_verdicts.reason_for_row,
    Collection.Customers: customer_verdicts.reason_for_row,
    Collection.Commissions: commission_verdicts.reason_without_facts,
}


@dataclass(slots=True)
class _BuiltRows:
    """The items of raw rows and, where they can be read, their records; by part and line."""

    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)

    @property
    def refs(self) -> list[AffiliateRef]:
        """The affiliates that the rows name."""
        return [ref for record in self.records.values() if (ref := getattr(record, "affiliate", None))]


@dataclass(slots=True)
class _Affiliates:
    """Affiliates of the files that rows name: by each name, by source id, and the rows of each person by key."""

    by_name: dict[str, list[AffiliateItem]] = field(default_factory=lambda: defaultdict(list))
    by_source_id: dict[str, Item] = field(default_factory=dict)
    people: dict[str, list[Item]] = field(default_factory=lambda: defaultdict(list))

    def add(self, item: Item) -> None:
        """Add the row of an affiliate under its source id and its key."""
        if item.source_id in self.by_source_id:
            return
        self.by_source_id[item.source_id] = item
        entry = AffiliateItem(item.source_id, item.source_id, item.campaign_ref, item.program_id)
        self.by_name[item.source_id].append(entry)
        if item.key is not None:
            self.by_name[item.key].append(entry._replace(name=item.key))
            if affiliate_verdicts.reason_for_row(item) is None:
                self.people[item.key].append(item)

    def reason(self, judging: Judging, item: Item) -> LeftOutReason | None:
        """Return why an affiliate is left out; whether they have customers or commissions is not asked."""
        reason = affiliate_verdicts.reason_for_row(item)
        if reason is not None:
            return reason
        person = self.people.get(item.key or "") or [item]
        status = affiliate_rules.status_of_person(map(affiliate_verdicts.status_of, person))
        return affiliate_rules.reason_for_person(status=status, has_referrals=True, options=judging.options)


def load_judging(
    switch: Switch,
    *,
    columns: Mapping[str, Mapping[str, str]] | None,
    words: Mapping[str, Mapping[str, str]] | None,
    now: datetime,
) -> Judging:
    """Return what the check of a switch depends on, if it began now. Budget: 2 round trips.

    Until a campaign has a program, all of them count as mapped: that none is, the page says elsewhere.
    """
    if switch.state == SwitchState.Connected:
        switch = replace(switch, reading_at=now)
    judging = context.load(switch, now=now)
    judging = replace(judging, source_context=file_mapping.build_context(switch, columns=columns, words=words))
    if not judging.programs:
        any_program = switch.id
        programs = dict.fromkeys(judging.program_by_campaign, any_program)
        judging = replace(judging, program_by_campaign=programs, key_by_program={any_program: "0"})
    return judging


def find_reasons(
    judging: Judging, rows: Mapping[str, Sequence[StoredFileRow]]
) -> dict[tuple[str, str], LeftOutReason | None]:
    """Return why rows of collections are left out, by collection and part and line. Budget: 5 round trips."""
    built = {name: _build(judging, name, listed) for name, listed in rows.items() if name != FIGURES}
    affiliates = _find_affiliates(judging, built)
    reasons: dict[tuple[str, str], LeftOutReason | None] = {}
    for name, group in built.items():
        if name == Collection.Affiliates:
            for place, item in group.items.items():
                reasons[name, place] = affiliates.reason(judging, _to_item(item))
            continue
        for mention in references.set_affiliates(
            judging, name, group.items, group.records, existing=affiliates.by_name
        ):
            affiliates.by_source_id.setdefault(mention["source_id"], _to_item(mention))
        if name == Collection.Customers:
            slices.set_customer_keys(judging, group.items)
        for place, item in group.items.items():
            reasons[name, place] = _REASONS[name](judging, _with_owner(judging, _to_item(item), affiliates))
    return reasons


def _build(judging: Judging, collection: str, rows: Iterable[StoredFileRow]) -> _BuiltRows:
    built = _BuiltRows()
    for row in rows:
        _, item, record = slices.build_item(judging, collection, RawRow(row.source_id, row.data, False))
        built.items[row.source_id] = item
        if record is not None:
            built.records[row.source_id] = record
    return built


def _to_item(item: Mapping[str, Any]) -> Item:
    """Return an item as it is read from the database."""
    values = {name: item.get(name) for name in Item._fields}
    record = values["record"]
    if record is not None and not isinstance(record, dict):
        values["record"] = asdict(record)
    return Item(**values)  # type: ignore[arg-type]  # the columns of an item


def _with_owner(judging: Judging, item: Item, affiliates: _Affiliates) -> Item:
    owner = affiliates.by_source_id.get(item.affiliate_ref or "")
    if owner is None:
        return item
    verdict = SwitchVerdict.LeftOut if affiliates.reason(judging, owner) else SwitchVerdict.New
    return item._replace(
        owner_verdict=verdict, owner_id=judging.switch.id, owner_program_id=owner.program_id, owner_key=owner.key
    )


def _find_affiliates(judging: Judging, built: Mapping[str, _BuiltRows]) -> _Affiliates:
    """Return the affiliates that rows name, with all rows of each person, from the raw rows of the files."""
    refs = [ref for group in built.values() for ref in group.refs]
    links = _find_links(judging, [ref.token for ref in refs if ref.token])
    refs += links.refs
    own = built.get(Collection.Affiliates, _BuiltRows()).records.values()
    emails = {email.strip().lower() for record in [*own, *refs] if (email := getattr(record, "email", None))}
    rows = _list_rows(judging, Collection.Affiliates, "id", {ref.id.lower() for ref in refs if ref.id})
    rows += _list_rows(judging, Collection.Affiliates, "email", emails)
    affiliates = _Affiliates()
    ordered = sorted({row.source_id: row for row in rows}.items())
    items = _build(judging, Collection.Affiliates, (row for _, row in ordered)).items.values()
    for item in sorted(items, key=lambda item: item["source_id"]):
        affiliates.add(_to_item(item))
    references.set_affiliates(judging, Collection.Links, links.items, links.records, existing=affiliates.by_name)
    for item in links.items.values():
        owner = affiliates.by_source_id.get(item["affiliate_ref"] or "")
        if owner is not None and item["key"]:
            entry = AffiliateItem(item["key"], owner.source_id, owner.campaign_ref, owner.program_id)
            affiliates.by_name[item["key"]].append(entry)
    return affiliates


def _find_links(judging: Judging, tokens: Iterable[str]) -> _BuiltRows:
    """Return the rows of links, and those of affiliates' tokens, that have one of these tokens."""
    normalized = {token for text in tokens if (token := link_rules.normalize_token(text)) is not None}
    values = normalized | {quote(token).lower() for token in normalized}
    rows = _list_rows(judging, Collection.Links, "token", values)
    for name in ("token", "id"):
        rows += _list_rows(judging, Collection.Links, name, values, columns_of=Collection.Affiliates)
    return _build(judging, Collection.Links, {row.source_id: row for row in rows}.values())


def _list_rows(
    judging: Judging, collection: str, name: str, values: set[str], *, columns_of: str | None = None
) -> list[StoredFileRow]:
    heading = judging.source_context.columns.get(columns_of or collection, {}).get(name)
    if heading is None or not values:
        return []
    return file_parts.list_rows_with(
        **judging.switch.key, collection=collection, heading=normalize_heading(heading), values=sorted(values)
    )
