"""What a caller sees of an affiliate: a person at the dashboard the application too, a key never.

Source: core spec, "Affiliate" (what the response omits).
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import settings
from adapters import clock
from api.access import guards
from api.edge import audit
from models.affiliates import tracking_links
from models.affiliates.affiliates import Affiliate
from models.affiliates.tracking_links import ShownLink
from models.ledger import balances
from schemas.affiliates.affiliate import affiliate_records, link_records
from schemas.affiliates.balance import BalanceRecord

_BALANCE = BalanceRecord()


def shown(affiliate: Affiliate, links: Sequence[ShownLink]) -> dict[str, Any]:
    """Return an affiliate as this request's caller sees them."""
    return _records([affiliate], links)[0]


def shown_all(rows: Sequence[Any]) -> list[dict[str, Any]]:
    """Return several as this request's caller sees them; one statement for the links of all."""
    ids = [row.id for row in rows]
    return _records(rows, tracking_links.of_affiliates(organization_id=guards.organization_id(), affiliate_ids=ids))


def shown_with_balances(rows: Sequence[Any]) -> list[dict[str, Any]]:
    """Return several like `shown_all`, each with their balances; one statement more for those of all."""
    shown = shown_all(rows)
    found = balances.of_affiliates(
        organization_id=guards.organization_id(), affiliate_ids=[UUID(one["id"]) for one in shown], now=clock.now()
    )
    for one in shown:
        one["balances"] = _BALANCE.dump(found[UUID(one["id"])], many=True)
    return shown


def audited(affiliate: Affiliate, links: Sequence[ShownLink]) -> dict[str, Any]:
    """Return an affiliate for the audit log, which keys read too."""
    return affiliate_records([affiliate], links, base_url=_base_url())[0]


def record_change(
    action: str, before: Affiliate, after: Affiliate, links: Sequence[ShownLink], *, now: datetime
) -> None:
    """Record in the audit log what an affiliate was and is now, if it shows."""
    was, is_now = audited(before, links), audited(after, links)
    if is_now != was:
        audit.record(action, after.id, before=was, after=is_now, now=now)


def link(one: ShownLink) -> dict[str, Any]:
    """Return a link as everybody sees it."""
    return link_records([one], base_url=_base_url())[0]


def links_of(affiliate_id: UUID) -> list[ShownLink]:
    """Return the links of an affiliate of this request's organization."""
    return tracking_links.of_affiliates(organization_id=guards.organization_id(), affiliate_ids=[affiliate_id])


def _records(affiliates: Sequence[Any], links: Sequence[ShownLink]) -> list[dict[str, Any]]:
    return affiliate_records(affiliates, links, base_url=_base_url(), is_for_dashboard=not guards.caller().is_key)


def _base_url() -> str:
    return settings.current().web.url
