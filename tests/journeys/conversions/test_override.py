"""The recruiter's own row for a recruit's sale (tracking spec, section 2 "Override conversion")."""

import hashlib
from decimal import Decimal

import pytest

from adapters import clock
from models import db
from models.jobs import admin_queries
from pipelines.conversions import override
from pipelines.conversions.override import OwedShare
from tests.support.recruits import Recruits


def _fixed_rate(value):
    return {"default_commission_type": "Fixed", "default_commission_value": Decimal(value)}


def test_recruits_sale_creates_two_rows(brand, drain):
    pair = Recruits.create(brand)

    conversion_id = pair.sell(externalEventId="order-a", amountCents=10_000, currency="EUR", customerId="cus_1")
    drain()

    assert pair.parents("id, affiliate_id, amount_cents, commission_cents, external_event_id, status") == [
        (conversion_id, pair.ben, 10_000, 2_000, "order-a", "Pending")
    ]
    assert pair.overrides(
        "parent_id, affiliate_id, program_id, amount_cents, commission_cents, currency, attribution_method, status,"
        " external_event_id, is_test"
    ) == [
        (
            conversion_id,
            pair.ann,
            brand.programs[0],
            0,
            200,
            "EUR",
            "sub_affiliate_override",
            "Pending",
            f"order-a:override:{pair.ann.hex}",
            False,
        )
    ]
    assert (pair.balance(pair.ben), pair.balance(pair.ann)) == (2_000, 200)


def test_both_rows_are_reported_with_all_fields(brand, drain):
    pair = Recruits.create(brand)

    conversion_id = pair.sell(externalEventId="order-a", amountCents=10_000, currency="EUR")
    drain()

    (override_id,) = pair.overrides("id::text")[0]
    assert pair.events("conversion.created", is_override=False) == [
        {
            "conversionId": str(conversion_id),
            "affiliateId": str(pair.ben),
            "programId": str(brand.programs[0]),
            "amountCents": 10_000,
            "currency": "EUR",
            "commissionCents": 2_000,
            "status": "Pending",
            "externalEventId": "order-a",
            "type": "OneTime",
        }
    ]
    assert pair.events("conversion.created", is_override=True) == [
        {
            "conversionId": override_id,
            "affiliateId": str(pair.ann),
            "programId": str(brand.programs[0]),
            "amountCents": 0,
            "currency": "EUR",
            "commissionCents": 200,
            "status": "Pending",
            "externalEventId": f"order-a:override:{pair.ann.hex}",
            "type": "OneTime",
            "attributionMethod": "sub_affiliate_override",
            "parentAffiliateConversionId": str(conversion_id),
        }
    ]


@pytest.mark.parametrize(
    ("commission", "currency", "percent", "share"),
    [
        ("20", "USD", "10", 200),
        ("0.25", "USD", "10", 2),
        ("0.35", "USD", "10", 4),
        ("0.15", "USD", "10", 2),
        ("0.05", "USD", "10", None),
        ("0.06", "USD", "10", 1),
        ("0.01", "USD", "50", None),
        ("0.01", "USD", "50.0001", 1),
        ("0.01", "USD", "100", 1),
        ("20", "USD", "100", 2_000),
        ("20", "USD", "0", None),
        ("20", "USD", "0.0001", None),
        ("0", "USD", "100", None),
        ("1", "USD", "12.5", 12),
        ("1", "USD", "33.3333", 33),
        ("7", "JPY", "50", 4),
        ("5", "JPY", "50", 2),
        ("0.025", "KWD", "10", 2),
        ("1000000", "USD", "12.3456", 12_345_600),
    ],
)
def test_override_is_a_percentage_rounded_half_even(brand, drain, *, commission, currency, percent, share):
    pair = Recruits.create(brand, percent=percent, **_fixed_rate(commission))

    pair.sell(currency=currency)
    drain()

    assert pair.overrides("commission_cents, currency") == ([(share, currency)] if share else [])
    assert len(pair.events("conversion.created", is_override=True)) == bool(share)
    assert pair.balance(pair.ann) == (share or 0)


@pytest.mark.parametrize(
    ("event", "prefix"),
    [
        ("a", "a"),
        ("x" * 200, "x" * 200),
        ("x" * 201, "sha256:" + hashlib.sha256(b"x" * 201).hexdigest()),
        ("x" * 512, "sha256:" + hashlib.sha256(b"x" * 512).hexdigest()),
        ("é" * 200, "é" * 200),
        ("é" * 201, "sha256:" + hashlib.sha256(("é" * 201).encode()).hexdigest()),
        ("a:override:b", "a:override:b"),
    ],
    ids=["one letter", "200", "201", "512", "200 accents", "201 accents", "one that looks like it"],
)
def test_override_external_id_contains_parent_and_recruiter(brand, drain, event, prefix):
    pair = Recruits.create(brand)

    pair.sell(externalEventId=event)
    drain()

    assert pair.overrides("external_event_id") == [(f"{prefix}:override:{pair.ann.hex}",)]


def test_sale_may_use_the_external_id_of_a_future_override(brand, drain):
    pair = Recruits.create(brand)

    pair.sell(externalEventId=f"order-a:override:{pair.ann.hex}", affiliateSlug="ann")
    pair.sell(externalEventId="order-a")
    drain()

    assert pair.overrides("external_event_id") == [(f"order-a:override:{pair.ann.hex}",)]
    assert len(pair.parents("id")) == 2


@pytest.mark.parametrize("status", ["Pending", "Rejected", "Paused", "Banned"])
def test_only_an_approved_recruiter_earns(brand, drain, status):
    pair = Recruits.create(brand, recruiter={"status": status})

    pair.sell()
    drain()

    assert pair.overrides("id") == []
    assert pair.parents("commission_cents") == [(2_000,)]


def test_deleted_recruiter_earns_nothing(brand, drain):
    pair = Recruits.create(brand)
    pair.change("update affiliate set deleted_at = now() where recruited_by_affiliate_id is null")

    pair.sell()
    drain()

    assert pair.overrides("id") == []


def test_disabled_overrides_pay_nothing(brand, drain):
    pair = Recruits.create(brand, percent="50", sub_affiliate_enabled=False)

    pair.sell()
    drain()

    assert pair.overrides("id") == []


def test_sale_without_a_recruiter_has_one_row(brand, drain):
    pair = Recruits.create(brand)

    pair.sell(affiliateSlug="ann")
    drain()

    assert pair.overrides("id") == []


def test_only_one_level_is_paid(brand, drain):
    pair = Recruits.create(brand, percent="50")
    brand.affiliate("cat", recruited_by_affiliate_id=pair.ben)

    pair.sell(affiliateSlug="cat")
    drain()

    assert pair.overrides("affiliate_id, commission_cents") == [(pair.ben, 1_000)]


@pytest.mark.parametrize(
    "change",
    [
        "update program set sub_affiliate_percent = 90",
        "update program set sub_affiliate_percent = 0",
        "update program set sub_affiliate_enabled = false",
        "update program set archived_at = now()",
        "update affiliate set status = 'Banned'",
        "update affiliate set recruited_by_affiliate_id = null",
    ],
)
def test_override_terms_are_fixed_at_settlement(brand, drain, change):
    pair = Recruits.create(brand)
    conversion_id = pair.sell()
    pair.settle(conversion_id)

    pair.change(change)
    drain()

    assert pair.overrides("affiliate_id, commission_cents") == [(pair.ann, 200)]


def test_override_of_a_test_sale_is_a_test_row(brand, drain):
    pair = Recruits.create(brand)

    brand.other_key(is_test=True).sale()
    drain()

    assert pair.overrides("is_test, commission_cents") == [(True, 200)]
    assert brand.rows("select distinct is_test from ledger_entry") == [(True,)]


def test_override_has_the_hold_of_its_sale(brand, drain):
    brand.set(payoutGraceDays="7")
    pair = Recruits.create(brand)

    pair.sell()
    drain()

    assert pair.overrides("hold_until, occurred_at") == pair.parents("hold_until, occurred_at")


def test_override_is_not_counted_as_revenue(brand, drain):
    pair = Recruits.create(brand)

    pair.sell()
    drain()

    assert brand.rows("select affiliate_id from affiliate_revenue") == [(pair.ben,)]


def test_repeated_writes_create_one_override(brand, drain):
    pair = Recruits.create(brand)
    conversion_id = pair.sell(externalEventId="order-a")

    drain(deliveries=3)
    for _ in range(2):
        with db.unit_of_work(brand.id):
            owed_shares = [OwedShare(conversion_id, pair.ann, Decimal(10))]
            override.write(organization_id=brand.id, owed=owed_shares, now=clock.now())
    assert brand.sale(externalEventId="order-a").json == {"ok": True, "deduped": True}
    drain()

    assert pair.overrides("commission_cents") == [(200,)]
    assert pair.balance(pair.ann) == 200
    assert len(pair.events("conversion.created", is_override=True)) == 1


def _fail_the_override(pair):
    pair.settle(pair.sell(externalEventId="order-a"))
    pair.change("update job set failed_at = now(), attempt = max_attempts where name = 'override.write'")


def test_failed_override_is_written_on_replay(brand, drain):
    pair = Recruits.create(brand)
    _fail_the_override(pair)
    drain()
    assert pair.overrides("id") == []

    with db.any_org_work():
        dead_jobs = admin_queries.any_org_list_dead(
            queue="sales", organization_id=brand.id, name="override.write", limit=9
        )
        assert admin_queries.any_org_replay([row.id for row in dead_jobs]) != []
    drain()

    assert pair.overrides("commission_cents") == [(200,)]


def test_failed_override_is_written_on_the_next_delivery_of_its_sale(brand, drain):
    pair = Recruits.create(brand)
    _fail_the_override(pair)

    brand.sale(externalEventId="order-a")
    drain()

    assert pair.overrides("commission_cents") == [(200,)]
