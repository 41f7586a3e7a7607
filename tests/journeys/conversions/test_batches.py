"""Sales and overrides settled in batches end in the same state as settled one by one."""

import json
import random
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from adapters import clock
from models import db
from models.programs import performance_tiers
from pipelines.conversions import acceptance, override, refund, settlement
from pipelines.conversions.override import OwedShare
from schemas.conversions.sale import SaleBody
from tests.support import books
from tests.support.rows import lead_rows
from tests.support.rows.brands import Brand

_SLUGS = ("ann", "ben", "cid", "dot", "eve", "fay")
_BUYERS = (None, "ada@x.test", "bob@x.test", "cy@x.test")
_SALES = 30
_SEEDS = range(3)


def _create_campaigns(brand: Brand) -> None:
    """Create a campaign with recruits, one with tiers, and one that pays leads as well as sales."""
    brand.program(
        sub_affiliate_enabled=True, sub_affiliate_percent=Decimal(10), recurring_months=1, recurring_delay_invoices=1
    )
    ann = brand.affiliate("ann")
    brand.affiliate("ben", recruited_by_affiliate_id=ann)
    tiered = brand.program(sub_affiliate_enabled=True, sub_affiliate_percent=Decimal("33.3"))
    cid = brand.affiliate("cid")
    brand.affiliate("dot", recruited_by_affiliate_id=cid)
    brand.program(default_commission_model="Cpl", sale_commission_type="Fixed", sale_commission_value=Decimal("1.25"))
    brand.affiliate("eve")
    brand.program()
    fay = brand.affiliate("fay", custom_commission_type="Percentage", custom_commission_value=Decimal("12.5"))
    with db.unit_of_work(brand.id):
        tiers = [
            performance_tiers.ProgramTier(least, "Percentage", Decimal(percent), "USD")
            for least, percent in ((0, 5), (20_000, 7), (50_000, 11), (100_000, 20))
        ]
        performance_tiers.stage_replacement(organization_id=brand.id, program_id=tiered, tiers=tiers)
    for affiliate_id, email in ((ann, "ada@x.test"), (fay, "bob@x.test"), (cid, "bob@x.test")):
        lead_rows.record_lead(
            brand, affiliate_id, email, occurred_at=clock.now() - timedelta(days=2), sub_id="of the lead"
        )
    brand.endpoint("https://hooks.test/all")
    brand.endpoint("https://hooks.test/created", ["conversion.created"])


def _generate_sales(seed: int) -> list[tuple[dict[str, Any], bool]]:
    chance = random.Random(seed)
    return [
        (
            {
                "externalEventId": f"{seed}-{number}",
                "affiliateSlug": chance.choice(_SLUGS),
                "amountCents": chance.choice((1, 7, 999, 10_000, 15_000, 40_000)),
                "currency": chance.choice(("USD", "USD", "JPY", "EUR")),
            }
            | ({"customerEmail": buyer, "customerId": f"cus-{buyer}"} if (buyer := chance.choice(_BUYERS)) else {}),
            chance.random() < 0.15,
        )
        for number in range(_SALES)
    ]


def _accept(brand: Brand, sales: Sequence[tuple[dict[str, Any], bool]]) -> list[UUID]:
    accepted = []
    for fields, is_test in sales:
        with db.unit_of_work(brand.id):
            receipt = acceptance.accept_sale(
                organization_id=brand.id, body=SaleBody().load(fields), is_test=is_test, now=clock.now()
            )
        assert receipt.conversion_id is not None, fields
        accepted.append(receipt.conversion_id)
    return accepted


def _split(chance: random.Random | None, whole: Sequence[Any]) -> list[Sequence[Any]]:
    """Split a sequence into single items, or with `chance` into random parts in order."""
    parts, rest = [], whole
    while rest:
        size = chance.randint(1, 20) if chance else 1
        parts.append(rest[:size])
        rest = rest[size:]
    return parts


def _settle_all(brand: Brand, sale_ids: Sequence[UUID], seed: int, *, is_batched: bool) -> None:
    chance = random.Random(seed) if is_batched else None
    for part in _split(chance, sale_ids):
        shuffled = random.Random(seed).sample(part, len(part))
        with db.unit_of_work(brand.id):
            settlement.settle_sales(organization_id=brand.id, sale_ids=shuffled, now=clock.now())
    # Some are refunded before their override is written.
    for place, cents in ((3, 1), (8, None), (20, 5)):
        fields, is_test = _generate_sales(seed)[place]
        if fields["amountCents"] > 10 and not is_test:
            with db.unit_of_work(brand.id):
                refund.refund_by_external_id(
                    organization_id=brand.id,
                    external_event_id=fields["externalEventId"],
                    requested_cents=cents,
                    now=clock.now(),
                )
    override_jobs = brand.rows(
        "select args from job where name = 'override.write' order by (args ->> 'conversion_id')::uuid"
    )
    owed_shares = [
        OwedShare(UUID(args["conversion_id"]), UUID(args["recruiter_id"]), Decimal(args["percent"]))
        for (args,) in override_jobs
    ]
    for part in _split(chance, owed_shares):
        with db.unit_of_work(brand.id):
            override.write(organization_id=brand.id, owed=part, now=clock.now())
    with db.unit_of_work(brand.id):
        db.db.run("delete from job where name = 'override.write'")


# Values that must be equal in both brands: no row ids and no times.
_WHO = "(select split_part(email, '@', 1) from affiliate a where a.id = affiliate_id)"
_WHICH = "(select c.external_event_id from conversion c where c.id = conversion_id)"
_QUERIES = {
    "conversions": f"""select split_part(external_event_id, ':', 1), source, {_WHO}, amount_cents, currency,
      commission_cents, refunded_cents, reversed_cents, status, type, payability, rate_source, rate_type, rate_value,
      is_test, attribution_method, sub_id, processor_customer_id, customer_email, customer_avatar_url, payout_locked,
      parent_id is not null, refunded_at is not null, hold_until - occurred_at, attribution_log is not null
      from conversion where source <> 'lead'""",
    "history": f"""select split_part({_WHICH}, ':', 1), event_type, amount_cents, commission_cents
      from conversion_event""",
    "ledger": f"select {_WHO}, split_part({_WHICH}, ':', 1), kind, amount_cents, currency, is_test from ledger_entry",
    "revenue": f"select {_WHO}, currency, net_cents::bigint from affiliate_revenue",
    "leads": """select email, state,
      (select external_event_id from conversion c where c.id = converted_by_conversion_id) from lead""",
    "days": f"""select {_WHO}, currency, sum(leads)::int, sum(sales)::int, sum(refunds)::int,
      sum(revenue_cents)::bigint, sum(refunded_cents)::bigint, sum(commission_cents)::bigint,
      sum(override_cents)::bigint from day_change group by affiliate_id, currency""",
    "deliveries": """select (select url from webhook_endpoint w where w.id = endpoint_id), event_type, status,
      count(*)::int from delivery group by endpoint_id, event_type, status""",
    "jobs": "select name, queue, max_attempts, lease_s, attempt, count(*)::int from job group by 1, 2, 3, 4, 5",
    "sales": "select external_event_id, settled_at is not null from sale",
}
_ROW_SPECIFIC = ("conversionId", "affiliateId", "programId", "parentAffiliateConversionId", "refundedAt")


def _read_state(brand: Brand) -> dict[str, list[Any]]:
    state: dict[str, list[Any]] = {what: sorted(map(repr, brand.rows(sql))) for what, sql in _QUERIES.items()}
    events = [json.loads(body) for (body,) in brand.rows("select body from event")]
    state["events"] = sorted(
        repr(
            (
                body["type"],
                [(name, name in _ROW_SPECIFIC or _without_ids(value)) for name, value in body["data"].items()],
            )
        )
        for body in events
    )
    return state


def _without_ids(value: Any) -> Any:
    return value.split(":")[0] if isinstance(value, str) else value


def test_batched_settlement_equals_settlement_one_by_one(brand, rival):
    for tenant in (brand, rival):
        _create_campaigns(tenant)
    for seed in _SEEDS:
        for tenant in (brand, rival):
            _settle_all(tenant, _accept(tenant, _generate_sales(seed)), seed, is_batched=tenant is rival)

        one_by_one, batched = _read_state(brand), _read_state(rival)
        for what, rows in one_by_one.items():
            assert rows == batched[what], f"seed {seed}: {what}"
    assert len({row for row in one_by_one["conversions"] if "'tier'" in row}) > 10
    assert [books.list_violations(tenant.id, is_finished=False) for tenant in (brand, rival)] == [[], []]
