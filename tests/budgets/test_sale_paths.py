"""Round trips of sales, overrides, refunds and webhook deliveries: one entry each."""

import contextlib
from decimal import Decimal

import pytest

from adapters import clock
from domain import jobs
from models import db
from models.jobs import rows
from models.programs import performance_tiers
from pipelines.conversions import acceptance, override, refund, settlement
from pipelines.conversions.override import OwedShare
from schemas.conversions.sale import SaleBody
from tests.budgets.counting import HotPath
from tests.support.endpoints import Endpoint
from tests.support.job_queues import drain, run_pointer
from tests.support.recruits import Recruits


def _accept(brand, event, **fields):
    posted = SaleBody().load({"externalEventId": event, "affiliateSlug": "ben", "amountCents": 10_000} | fields)
    with db.unit_of_work(brand.id, is_single=True):
        recorded = acceptance.accept_sale(organization_id=brand.id, body=posted, is_test=False, now=clock.now())
    return recorded.conversion_id


def _settle(brand, *sale_ids):
    with db.unit_of_work(brand.id):
        if len(sale_ids) == 1:
            settlement.settle_sale(organization_id=brand.id, sale_id=sale_ids[0], now=clock.now())
        else:
            settlement.settle_sales(organization_id=brand.id, sale_ids=list(sale_ids), now=clock.now())


def _write_overrides(pair, *sale_ids):
    owed = [OwedShare(sale_id, pair.ann, Decimal(10)) for sale_id in sale_ids]
    with db.unit_of_work(pair.brand.id):
        override.write(organization_id=pair.brand.id, owed=owed, now=clock.now())


def _refund(brand, event):
    with db.unit_of_work(brand.id):
        refund.refund_by_external_id(
            organization_id=brand.id, external_event_id=event, requested_cents=100, now=clock.now()
        )


def _shop(brand):
    brand.program()
    brand.affiliate("ben")
    brand.skip_first_sale()


def _new_sale(brand):
    _shop(brand)
    _accept(brand, "warm", customerId="cus_1")
    return [lambda: _accept(brand, "order", customerId="cus_1", customerEmail="a@x.test", subId="tag")]


def _sale_within_a_transaction(brand):
    """Accept a sale in a longer transaction, such as that of an Idempotency-Key."""
    _shop(brand)
    posted = SaleBody().load({"externalEventId": "order", "affiliateSlug": "ben", "amountCents": 10_000})
    _accept(brand, "warm")

    def accept_and_fail():
        with contextlib.suppress(ZeroDivisionError), db.unit_of_work(brand.id):
            acceptance.accept_sale(organization_id=brand.id, body=posted, is_test=False, now=clock.now())
            raise ZeroDivisionError

    return [accept_and_fail]


def _known_sale(brand):
    _shop(brand)
    for _ in range(2):
        _accept(brand, "order")

    def accept_again():
        assert _accept(brand, "order") is None

    return [accept_again]


def _sale_to_settle(brand, **buyer):
    _shop(brand)
    _settle(brand, _accept(brand, "warm", **buyer))
    sale_id = _accept(brand, "order", **buyer)
    return [lambda: _settle(brand, sale_id)]


def _first_sale(brand):
    brand.program()
    brand.affiliate("ben")
    _settle(brand, _accept(brand, "warm"))
    sale_id = _accept(brand, "order")
    return [lambda: _settle(brand, sale_id)]


def _large_sale(brand, currency):
    _shop(brand)
    large = {"amountCents": 10_000_000, "currency": currency}
    _settle(brand, _accept(brand, "warm", **large))
    sale_id = _accept(brand, "order", **large)
    return [lambda: _settle(brand, sale_id)]


def _sale_to_a_lead(brand):
    _shop(brand)
    for event in ("warm", "order"):
        lead = {"affiliateSlug": "ben", "email": f"{event}@x.test"}
        assert "leadId" in brand.post_signed("/api/tracking/lead", lead).json
    _settle(brand, _accept(brand, "warm", customerEmail="warm@x.test"))
    sale_id = _accept(brand, "order", customerEmail="order@x.test")
    return [lambda: _settle(brand, sale_id)]


def _sale_of_a_recruit(brand):
    Recruits.create(brand)
    brand.skip_first_sale()
    _settle(brand, _accept(brand, "warm"))
    sale_id = _accept(brand, "order")
    return [lambda: _settle(brand, sale_id)]


def _sale_under_tiers(brand, currency):
    _shop(brand)
    with db.unit_of_work(brand.id):
        tier = performance_tiers.ProgramTier(0, "Percentage", Decimal(10), currency)
        performance_tiers.stage_replacement(organization_id=brand.id, program_id=brand.programs[-1], tiers=[tier])
    _settle(brand, _accept(brand, "warm"))
    sale_id = _accept(brand, "order")
    return [lambda: _settle(brand, sale_id)]


def _settled_sale(brand):
    _shop(brand)
    sale_id = _accept(brand, "order")
    _settle(brand, sale_id)
    return [lambda: _settle(brand, sale_id)]


def _several_sales(brand):
    Recruits.create(brand)
    brand.skip_first_sale()
    sale_ids = [_accept(brand, f"order-{number}") for number in range(14)]
    _settle(brand, *sale_ids[:2])
    return [lambda: _settle(brand, sale_ids[2]), lambda: _settle(brand, *sale_ids[3:])]


def _overrides(brand, is_refunded=False):
    pair = Recruits.create(brand)
    events = [f"order-{number}" for number in range(2 if is_refunded else 12)]
    sale_ids = [_accept(brand, event) for event in events]
    _settle(brand, *sale_ids)
    if is_refunded:
        for event in events:
            _refund(brand, event)
    _write_overrides(pair, sale_ids[0])
    calls = [lambda: _write_overrides(pair, sale_ids[1])]
    return calls if is_refunded else [*calls, lambda: _write_overrides(pair, *sale_ids[2:])]


def _sale_to_refund(brand, has_override):
    pair = Recruits.create(brand, sub_affiliate_enabled=has_override)
    for event in ("warm", "order"):
        sale_id = _accept(brand, event)
        _settle(brand, sale_id)
        if has_override:
            _write_overrides(pair, sale_id)
    _refund(brand, "warm")
    return [lambda: _refund(brand, "order")]


def _refund_to_cascade(brand):
    pair = Recruits.create(brand)
    sale_ids = [_accept(brand, event) for event in ("warm", "order")]
    _settle(brand, *sale_ids)
    _write_overrides(pair, *sale_ids)
    for event in ("warm", "order"):
        _refund(brand, event)

    def cascade(sale_id):
        with db.unit_of_work(brand.id):
            refund.refund_override(organization_id=brand.id, conversion_id=sale_id, now=clock.now())

    cascade(sale_ids[0])
    return [lambda: cascade(sale_ids[1])]


def _event_to_deliver(brand, receiver):
    _shop(brand)
    Endpoint.create(brand, receiver.url)
    _settle(brand, _accept(brand, "warm"))
    drain()
    _settle(brand, _accept(brand, "order"))
    with db.any_org_work():
        (pointer,) = rows.any_org_dispatch(queue=jobs.WEBHOOK_DELIVER.queue, per_thread=16, share=1_000, lease_s=30)

    def deliver():
        run_pointer(pointer)
        assert len(receiver.received) == 2

    return [deliver]


_SETTLE_BUDGET = {settlement.settle_sale: "2 round trips (facts; writes and commit)"}
_OVERRIDE_BUDGET = "2 round trips (lock parents; insert) and the writes with the commit, how"
PATHS = {
    "accept": HotPath(_new_sale, 1, 3, {acceptance.accept_sale: "Budget: 1 round trip with the commit"}),
    "accept-in-a-transaction": HotPath(_sale_within_a_transaction, 2, 3),
    "accept-known": HotPath(_known_sale, 3, 6),
    "settle": HotPath(_sale_to_settle, 2, 10, _SETTLE_BUDGET),
    # The job that decides whether people are notified is one statement more, and no round trip.
    "settle-first": HotPath(_first_sale, 2, 11),
    "settle-large": HotPath(lambda brand: _large_sale(brand, "USD"), 2, 11),
    "settle-foreign": HotPath(lambda brand: _large_sale(brand, "EUR"), 2, 11),
    # One statement more looks for payments of the same buyer at gateways.
    "settle-for-customer": HotPath(lambda brand: _sale_to_settle(brand, customerId="cus_1"), 2, 11),
    "settle-for-lead": HotPath(_sale_to_a_lead, 2, 12, rows=("select count(*) from lead where state = 'Converted'", 2)),
    "settle-for-recruit": HotPath(_sale_of_a_recruit, 2, 11),
    "settle-under-tiers": HotPath(
        lambda brand: _sale_under_tiers(brand, "USD"),
        5,
        stated={settlement.settle_sale: "three more in a campaign with performance tiers"},
    ),
    "settle-under-tiers-of-former-currency": HotPath(
        lambda brand: _sale_under_tiers(brand, "EUR"),
        6,
        stated={settlement.settle_sale: "and a fourth while tiers are in a former home currency"},
    ),
    "settle-again": HotPath(_settled_sale, 2, 4),
    "settle-several": HotPath(_several_sales, 2, 11, {settlement.settle_sales: "that of one, however many they are"}),
    "override": HotPath(_overrides, 2 + 1, 7, {override.write: _OVERRIDE_BUDGET}),
    "override-of-refunded": HotPath(
        lambda brand: _overrides(brand, is_refunded=True),
        2 + 1 + 1 + 4,
        stated={override.write: "one more where any parent was refunded, and 4 more for each"},
    ),
    "refund": HotPath(
        lambda brand: _sale_to_refund(brand, False),
        5,
        14,
        {refund.refund_by_external_id: "5 round trips (find; is it settled; lock; who follows it; commit)"},
    ),
    "refund-with-override": HotPath(lambda brand: _sale_to_refund(brand, True), 5, 15),
    "cascade": HotPath(
        _refund_to_cascade,
        4 + 1,
        13,
        {
            refund.refund_override: (
                "4 round trips (lock parent; lock override; refunds; payouts) and the writes with the commit"
            ),
        },
    ),
    # The job's lock; the attempt; its start with a commit; the result and the end of the job with theirs.
    "deliver": HotPath(_event_to_deliver, 4, 10),
}


@pytest.mark.parametrize("name", PATHS)
def test_sale_path_keeps_its_budget(request, brand, name):
    PATHS[name].assert_budget(brand, request)
