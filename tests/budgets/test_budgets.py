"""Round trips and statements of the paths that every sale takes, beside the budgets written in their docstrings.

Every path runs once before it is counted: a connection prepares its statements when it first meets them.
"""

import contextlib
import re
from collections.abc import Callable, Iterator
from decimal import Decimal

import pytest

from adapters import clock
from domain import jobs
from models import db
from models.conversions import sales
from models.jobs import rows
from models.programs import performance_tiers
from pipelines.conversions import acceptance, override, refund, settlement
from pipelines.conversions.override import OwedShare
from schemas.conversions.sale import SaleBody
from tests.support.draining import drain as drain_all
from tests.support.draining import run
from tests.support.endpoints import Endpoint
from tests.support.recruits import Recruits

#: What an opening, a tenant and a commit add is part of a trip; `begin` and its setting count as one statement.
_SEPARATOR = b";\n"


class Counted:
    """The round trips of a block."""

    def __init__(self) -> None:
        self.trips: list[bytes] = []

    @property
    def numbers(self) -> tuple[int, int]:
        """Round trips and statements."""
        return len(self.trips), sum(trip.count(_SEPARATOR) + 1 for trip in self.trips)

    def __repr__(self) -> str:
        return "\n---\n".join(trip.decode() for trip in self.trips)


@contextlib.contextmanager
def _counting() -> Iterator[Counted]:
    counted = Counted()
    db.db.trip_hooks.append(counted.trips.append)
    try:
        yield counted
    finally:
        db.db.trip_hooks.remove(counted.trips.append)


def _budget(function: Callable[..., object]) -> str:
    """The sentence about the budget, on one line."""
    found = re.search(r"Budget: (.*?)\.(?:\s|$)", " ".join((function.__doc__ or "").split()))
    assert found, f"{function.__qualname__} states no budget"
    return found[1]


def _accept(brand, event, **fields):
    posted = SaleBody().load({"externalEventId": event, "affiliateSlug": "ben", "amountCents": 10_000} | fields)
    with db.unit_of_work(brand.id, is_single=True):
        recorded = acceptance.accept_sale(organization_id=brand.id, body=posted, is_test=False, now=clock.now())
    return recorded.conversion_id


def _settle(brand, conversion_id):
    with db.unit_of_work(brand.id):
        settlement.settle_sale(organization_id=brand.id, sale_id=conversion_id, now=clock.now())


def _write_override(pair, conversion_id):
    with db.unit_of_work(pair.brand.id):
        override.write(
            organization_id=pair.brand.id,
            owed=[OwedShare(conversion_id, pair.ann, Decimal(10))],
            now=clock.now(),
        )


def _refund(brand, event, cents):
    with db.unit_of_work(brand.id):
        refund.refund_by_external_id(
            organization_id=brand.id, external_event_id=event, requested_cents=cents, now=clock.now()
        )


def _cascade(brand, conversion_id):
    with db.unit_of_work(brand.id):
        refund.refund_override(organization_id=brand.id, conversion_id=conversion_id, now=clock.now())


@pytest.fixture
def shop(brand):
    brand.program()
    brand.affiliate("ben")
    return brand


def test_accepting_a_sale(shop):
    _accept(shop, "warm", customerId="cus_1")

    with _counting() as counted:
        _accept(shop, "order-a", customerId="cus_1", customerEmail="a@x.test", subId="tag")

    assert _budget(acceptance.accept_sale).startswith("1 round trip with the commit")
    assert counted.numbers == (1, 3), counted


def test_accepting_a_sale_as_a_part_of_something(shop):
    """Behind an Idempotency-Key's claim, say: nothing is committed before the whole is."""
    posted = SaleBody().load({"externalEventId": "order-a", "affiliateSlug": "ben", "amountCents": 10_000})
    _accept(shop, "warm")

    with _counting() as counted, contextlib.suppress(ZeroDivisionError), db.unit_of_work(shop.id):
        acceptance.accept_sale(organization_id=shop.id, body=posted, is_test=False, now=clock.now())
        raise ZeroDivisionError

    assert counted.numbers == (2, 3), counted
    assert _accept(shop, "order-a") is not None


def test_recognising_a_known_sale(shop):
    _accept(shop, "order-a")
    _accept(shop, "order-a")

    with _counting() as counted:
        assert _accept(shop, "order-a") is None

    assert counted.numbers == (3, 6), counted


@pytest.mark.parametrize("buyer", [{}, {"customerId": "cus_1"}], ids=["without a customer", "with a customer"])
def test_settling_a_sale(shop, buyer):
    _settle(shop, _accept(shop, "warm", **buyer))
    conversion_id = _accept(shop, "order-a", **buyer)

    with _counting() as counted:
        _settle(shop, conversion_id)

    assert "2 round trips (facts; writes and commit)" in _budget(settlement.settle_sale)
    # Payments at gateways of the same buyer are looked for by one more.
    assert counted.numbers == (2, 11 if buyer else 10), counted


def test_settling_a_sale_to_a_lead_converts_it_with_the_commit(shop):
    for event in ("warm", "order-a"):
        lead = {"affiliateSlug": "ben", "email": f"{event}@x.test"}
        assert "leadId" in shop.signed("/api/tracking/lead", lead).json
    _settle(shop, _accept(shop, "warm", customerEmail="warm@x.test"))
    conversion_id = _accept(shop, "order-a", customerEmail="order-a@x.test")

    with _counting() as counted:
        _settle(shop, conversion_id)

    assert counted.numbers == (2, 12), counted
    assert shop.rows("select count(*) from lead where state = 'Converted'") == [(2,)]


@pytest.mark.usefixtures("alone")
def test_the_lead_of_a_sale_is_found_by_its_index_even_with_a_plan_of_an_empty_table(shop):
    conversion_id = _accept(shop, "order-a")
    _settle(shop, conversion_id)

    with db.unit_of_work(shop.id):
        plan = [line for (line,) in db.db.run(f"explain {sales._FACTS.execute}", (shop.id, [conversion_id]))]

    (look,) = [line for line in plan if " on lead " in line and "Subquery" not in line]
    assert "using lead_match on" in look
    assert not any("Sort Key: lead" in line for line in plan), plan


def test_settling_a_sale_of_a_recruit_stages_its_override_with_the_commit(brand):
    Recruits.create(brand)
    _settle(brand, _accept(brand, "warm"))
    conversion_id = _accept(brand, "order-a")

    with _counting() as counted:
        _settle(brand, conversion_id)

    assert counted.numbers == (2, 11), counted


def test_settling_a_sale_in_a_campaign_with_tiers_costs_four_more(shop):
    with db.unit_of_work(shop.id):
        tier = performance_tiers.ProgramTier(0, "Percentage", Decimal(10), "USD")
        performance_tiers.stage_replacement(organization_id=shop.id, program_id=shop.programs[-1], tiers=[tier])
    _settle(shop, _accept(shop, "warm"))
    conversion_id = _accept(shop, "order-a")

    with _counting() as counted:
        _settle(shop, conversion_id)

    assert "three more in a campaign with performance tiers" in _budget(settlement.settle_sale)
    assert len(counted.trips) == 5, counted


def test_settling_a_sale_under_tiers_of_a_former_home_currency_costs_a_fourth(shop):
    with db.unit_of_work(shop.id):
        tier = performance_tiers.ProgramTier(0, "Percentage", Decimal(10), "EUR")
        performance_tiers.stage_replacement(organization_id=shop.id, program_id=shop.programs[-1], tiers=[tier])
    _settle(shop, _accept(shop, "warm"))
    conversion_id = _accept(shop, "order-a")

    with _counting() as counted:
        _settle(shop, conversion_id)

    assert _budget(settlement.settle_sale).endswith("and a fourth while tiers are in a former home currency")
    assert len(counted.trips) == 6, counted


def test_settling_again(shop):
    conversion_id = _accept(shop, "order-a")
    _settle(shop, conversion_id)

    with _counting() as counted:
        _settle(shop, conversion_id)

    assert counted.numbers == (2, 4), counted


def test_several_sales_cost_what_one_costs(brand):
    pair = Recruits.create(brand)
    ids = [_accept(brand, f"order-{number}") for number in range(12)]
    numbers = []
    for some in (ids[:1], ids[1:2], ids[2:]):  # the first prepares what it says
        with _counting() as counted, db.unit_of_work(brand.id):
            settlement.settle_sales(organization_id=brand.id, sale_ids=some, now=clock.now())
        numbers.append(counted.numbers)
        with _counting() as counted, db.unit_of_work(brand.id):
            owed = [OwedShare(conversion_id, pair.ann, Decimal(10)) for conversion_id in some]
            override.write(organization_id=brand.id, owed=owed, now=clock.now())
        numbers.append(counted.numbers)

    assert _budget(settlement.settle_sales).startswith("that of one, however many they are")
    assert _budget(override.write).startswith(
        "2 round trips (lock parents; insert) and the writes with the commit, how"
    )
    assert numbers[2:4] == numbers[4:6], numbers


def test_writing_an_override(brand):
    pair = Recruits.create(brand)
    ids = [_accept(brand, event) for event in ("warm", "order-a")]
    for conversion_id in ids:
        _settle(brand, conversion_id)
    _write_override(pair, ids[0])

    with _counting() as counted:
        _write_override(pair, ids[1])

    assert _budget(override.write).startswith("2 round trips (lock parents; insert) and the writes with the commit")
    assert counted.numbers == (2 + 1, 7), counted


def test_writing_the_override_of_a_refunded_sale_costs_five_more(brand):
    pair = Recruits.create(brand)
    ids = [_accept(brand, event) for event in ("warm", "order-a")]
    for conversion_id, event in zip(ids, ("warm", "order-a"), strict=True):
        _settle(brand, conversion_id)
        _refund(brand, event, 100)
    _write_override(pair, ids[0])

    with _counting() as counted:
        _write_override(pair, ids[1])

    assert _budget(override.write).endswith("one more where any parent was refunded, and 4 more for each")
    assert len(counted.trips) == 2 + 1 + 1 + 4, counted


@pytest.mark.parametrize(
    ("has_override", "numbers"), [(False, (5, 14)), (True, (5, 15))], ids=["alone", "with an override"]
)
def test_refunding_a_sale(brand, has_override, numbers):
    pair = Recruits.create(brand, sub_affiliate_enabled=has_override)
    for event in ("warm", "order-a"):
        conversion_id = _accept(brand, event)
        _settle(brand, conversion_id)
        if has_override:
            _write_override(pair, conversion_id)
    _refund(brand, "warm", 100)

    with _counting() as counted:
        _refund(brand, "order-a", 100)

    assert _budget(refund.refund_by_external_id).startswith(
        "5 round trips (find; is it settled; lock; who follows it; commit)"
    )
    assert counted.numbers == numbers, counted
    assert [trip.count(b"insert into refund") + trip.count(b"update conversion") for trip in counted.trips][3] >= 1


def test_cascading_a_refund(brand):
    pair = Recruits.create(brand)
    ids = [_accept(brand, event) for event in ("warm", "order-a")]
    for conversion_id, event in zip(ids, ("warm", "order-a"), strict=True):
        _settle(brand, conversion_id)
        _write_override(pair, conversion_id)
        _refund(brand, event, 100)
    _cascade(brand, ids[0])

    with _counting() as counted:
        _cascade(brand, ids[1])

    stated = "4 round trips (lock parent; lock override; refunds; payouts) and the writes with the commit"
    assert _budget(refund.refund_override) == stated
    assert counted.numbers == (4 + 1, 13), counted


def test_delivering_an_event(shop, receiver):
    Endpoint.create(shop, receiver.url)
    _settle(shop, _accept(shop, "warm"))
    drain_all()
    _settle(shop, _accept(shop, "order-a"))
    with db.any_org_work():
        (pointer,) = rows.any_org_hand_out(queue=jobs.WEBHOOK_DELIVER.queue, per_thread=16, share=1_000, lease_s=30)

    with _counting() as counted:
        run(pointer)

    # lock the job; count the attempt; that it has begun, commit; the result and the end of the job with their commit
    assert len(receiver.received) == 2
    assert counted.numbers == (4, 10), counted
