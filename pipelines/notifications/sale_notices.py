"""Decides which sales are worth a notification: an organization's first sale, and large ones.

The transaction that writes a sale only decides whether it is a candidate, by the terms that it has read already: other
sales cost nothing more. A job decides the rest. Renewals are not large sales. No one is notified of test sales, denied
ones, imported ones and those that a person entered by hand.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from domain import jobs
from domain.money import currencies, fx
from domain.money.valuation import FRESH_DAYS
from domain.notifications import thresholds
from domain.notifications.kinds import NotificationKind
from domain.notifications.thresholds import Threshold
from domain.statuses import ConversionStatus, ConversionType
from models.conversions.conversions import Conversion
from models.conversions.sale_terms import SaleTerms
from models.money import fx_rates
from models.notifications import sale_facts
from models.notifications.feed import NewNotice
from models.notifications.sale_facts import ForeignSale, SaleToCheck
from pipelines import work
from pipelines.notifications import notices

# An organization with so many earlier sales, or with one so old, has had its first sale long ago.
_MANY_SALES = 100
_OLD_SALE = timedelta(days=30)


def stage_candidates(sales: Sequence[tuple[Conversion, SaleTerms]]) -> None:
    """Stage a job for each new sale of one organization that may be its first or a large one.

    A sale in another currency than the brand's amount is compared by the database, at the newest rates.
    Budget: none; the statements, if there are any, travel with the next one or the commit.
    """
    candidates, foreign = [], []
    for conversion, terms in sales:
        if conversion.is_test or conversion.status == ConversionStatus.Denied:
            continue
        threshold = _threshold(terms)
        is_new_customer = conversion.type == ConversionType.OneTime
        if not terms.has_first_sale:
            candidates.append({"conversion_id": conversion.id})
        elif is_new_customer and conversion.currency == threshold.currency:
            if conversion.amount_cents >= threshold.cents:
                candidates.append({"conversion_id": conversion.id})
        elif is_new_customer and conversion.amount_cents:
            foreign.append((conversion, threshold))
    if candidates:
        work.enqueue_all(jobs.NOTIFICATION_SALE, organization_id=sales[0][0].organization_id, args=candidates)
    if foreign:
        sale_facts.stage_foreign_candidates(
            [_foreign_sale(conversion) for conversion, _ in foreign],
            organization_id=foreign[0][0].organization_id,
            threshold_major=currencies.to_major(foreign[0][1].cents, foreign[0][1].currency),
            threshold_currency=foreign[0][1].currency,
        )


def check(*, organization_id: UUID, conversion_id: UUID, now: datetime) -> None:
    """Notify the brand's people of a sale, if it is the organization's first or a large one.

    A large first sale is notified once. Without a rate a sale in another currency is not large.
    Budget: 2 to 5 round trips.
    """
    sale = sale_facts.find(organization_id=organization_id, conversion_id=conversion_id)
    if sale is None:
        return
    is_first = sale.first_sale_at is None and _claim_first(sale, organization_id, now)
    if is_first:
        kind = NotificationKind.FirstSale
    elif sale.type == ConversionType.OneTime and _is_large(sale, now):
        kind = NotificationKind.LargeSale
    else:
        return
    notices.add(NewNotice(organization_id, kind.value, conversion_id), now=now)


def _claim_first(sale: SaleToCheck, organization_id: UUID, now: datetime) -> bool:
    """Return whether a sale is the organization's first, and record its time then.

    If there were earlier ones, the first is the job of another sale; if they are many or old, it was before
    notifications existed, and is recorded without one.
    """
    if sale.earlier_since is None:
        return sale_facts.claim_first_sale(organization_id, at=sale.created_at)
    if sale.earlier_count >= _MANY_SALES or now - sale.earlier_since > _OLD_SALE:
        sale_facts.claim_first_sale(organization_id, at=sale.earlier_since)
    return False


def _is_large(sale: SaleToCheck, now: datetime) -> bool:
    threshold = _threshold(sale)
    foreign = {sale.currency, threshold.currency} - {"USD"}
    rates = {}
    if sale.currency != threshold.currency:
        since = now.date() - timedelta(days=FRESH_DAYS)
        rates = {code: rate for code, (rate, _) in fx_rates.find_newest_since(foreign, since=since).items()}
    value = fx.convert_exactly(
        amount_cents=sale.amount_cents,
        from_currency=sale.currency,
        to_currency=threshold.currency,
        per_usd=rates,
    )
    return value is not None and value >= threshold.cents


def _threshold(terms: SaleTerms | SaleToCheck) -> Threshold:
    return thresholds.find_threshold(
        home_currency=terms.home_currency, cents=terms.large_sale_cents, currency=terms.large_sale_currency
    )


def _foreign_sale(conversion: Conversion) -> ForeignSale:
    return ForeignSale(
        conversion.id, conversion.currency, currencies.to_major(conversion.amount_cents, conversion.currency)
    )
