"""The JSON of affiliates for a caller: dashboard users also get the application, keys never do.

Source: core spec, "Affiliate" (what the response omits).
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

import settings
from api.access import guards
from api.edge import audit
from models.affiliates import tracking_links
from models.affiliates.affiliates import Affiliate
from models.affiliates.listing import totals
from models.affiliates.listing.lists import RenderedAffiliate, Shape
from models.affiliates.tracking_links import LinkView
from models.ledger import balances
from schemas.affiliates.affiliate import DASHBOARD_WIRE, KEY_WIRE, LINK_WIRE, affiliate_records, link_records
from schemas.affiliates.balance import BalanceRecord
from schemas.affiliates.totals import AffiliateTotalsRecord

_BALANCE = BalanceRecord()
_TOTALS = AffiliateTotalsRecord()
_FOR_DASHBOARD, _FOR_KEY = Shape(DASHBOARD_WIRE, LINK_WIRE), Shape(KEY_WIRE, LINK_WIRE)


def serialize(affiliate: Affiliate, links: Sequence[LinkView]) -> dict[str, Any]:
    """Return the JSON of an affiliate for this request's caller."""
    return _serialize([affiliate], links)[0]


def serialize_all(rows: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the JSON of affiliates for this request's caller, with one statement for all links."""
    ids = [row.id for row in rows]
    return _serialize(
        rows, tracking_links.list_of_affiliates(organization_id=guards.organization_id(), affiliate_ids=ids)
    )


def document_shape() -> Shape:
    """Return the shape of the JSON that the database renders for this request's caller."""
    return _FOR_KEY if guards.caller().is_integration else _FOR_DASHBOARD


def serialize_rendered(
    rows: Sequence[RenderedAffiliate], *, balances_as_of: datetime | None = None, with_totals: bool = False
) -> list[orjson.Fragment]:
    """Return rendered affiliates with their links, with their balances at a time, if given, and with their totals.

    Takes one statement for all links if any is not short, and one each for all balances and totals.
    """
    parts = {row.id: [row.document[:-1], f'"links":{row.links}'] for row in rows}
    for affiliate_id, links in _serialize_long_links([row.id for row in rows if row.links is None]).items():
        parts[affiliate_id][1] = f'"links":{orjson.dumps(links).decode()}'
    if balances_as_of is not None:
        for affiliate_id, balances in _serialize_balances(parts, balances_as_of).items():
            parts[affiliate_id].append(f'"balances":{orjson.dumps(balances).decode()}')
    if with_totals and parts:
        for affiliate_id, record in serialize_totals(list(parts)).items():
            parts[affiliate_id].append(f'"totals":{orjson.dumps(record).decode()}')
    return [orjson.Fragment(",".join(part) + "}") for part in parts.values()]


def serialize_totals(affiliate_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the JSON of the totals of affiliates by id, with one statement."""
    rows = totals.list_totals(organization_id=guards.organization_id(), affiliate_ids=affiliate_ids)
    return {affiliate_id: _TOTALS.dump(row) for affiliate_id, row in rows.items()}


def _serialize_long_links(affiliate_ids: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    if not affiliate_ids:
        return {}
    links = tracking_links.list_of_affiliates(organization_id=guards.organization_id(), affiliate_ids=affiliate_ids)
    by_affiliate: dict[str, list[dict[str, Any]]] = {affiliate_id: [] for affiliate_id in affiliate_ids}
    for record in link_records(links, base_url=base_url()):
        by_affiliate[record["affiliateId"]].append(record)
    return by_affiliate


def _serialize_balances(affiliate_ids: Iterable[str], now: datetime) -> dict[str, list[dict[str, Any]]]:
    by_affiliate = balances.list_of_affiliates(
        organization_id=guards.organization_id(), affiliate_ids=list(map(UUID, affiliate_ids)), now=now
    )
    return {str(affiliate_id): _BALANCE.dump(amounts, many=True) for affiliate_id, amounts in by_affiliate.items()}


def serialize_for_audit(affiliate: Affiliate, links: Sequence[LinkView]) -> dict[str, Any]:
    """Return the JSON of an affiliate for the audit log, which keys read too."""
    return affiliate_records([affiliate], links, base_url=base_url())[0]


def record_change(
    action: str, before: Affiliate, after: Affiliate, links: Sequence[LinkView], *, now: datetime
) -> None:
    """Record a change of an affiliate in the audit log, if their JSON changed."""
    old, new = serialize_for_audit(before, links), serialize_for_audit(after, links)
    if new != old:
        audit.record(action, after.id, before=old, after=new, now=now)


def serialize_link(link: LinkView) -> dict[str, Any]:
    """Return the JSON of a link, the same for every caller."""
    return link_records([link], base_url=base_url())[0]


def list_links(affiliate_id: UUID) -> list[LinkView]:
    """Return the links of an affiliate of this request's organization."""
    return tracking_links.list_of_affiliates(organization_id=guards.organization_id(), affiliate_ids=[affiliate_id])


def _serialize(affiliates: Sequence[Any], links: Sequence[LinkView]) -> list[dict[str, Any]]:
    return affiliate_records(
        affiliates, links, base_url=base_url(), is_for_dashboard=not guards.caller().is_integration
    )


def base_url() -> str:
    """Return the base address of short links."""
    return settings.current().web.url
