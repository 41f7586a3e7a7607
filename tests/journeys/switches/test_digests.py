"""Digests of brought records: equal for equal runs, different for any difference. Source: the switch-over rules."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from models import db
from pipelines.switches import digests, running
from tests.support.rows.brands import Brand
from tests.support.running import row_ids
from tests.support.switches.judged_rows import JudgedSwitch


def _create(app) -> JudgedSwitch:
    """Create a brand whose switch has one row of each kind, with equal source ids each time."""
    brand = Brand.create(app)
    brand.program()
    switch = JudgedSwitch(brand)
    link_id = row_ids.new_id()
    ben = switch.affiliate("ben@example.com", link_id=link_id, slug=f"ben-{brand.id.hex[-6:]}")
    switch.link(ben, link_id, old_token="b.en")
    switch.code(ben, "BEN10")
    switch.customer(ben, "cus_1", payments=2, added_payments=2)
    sale = switch.commission(ben, status="Approved", is_locked=False, external_event_id="switch:rewardful:1")
    switch.commission(
        ben,
        act="refund",
        conversion_id=sale,
        commission_cents=500,
        refunded_cents=2_500,
        external_event_id="switch:rewardful:2",
    )
    with db.unit_of_work(brand.id):
        db.db.stage(
            "update switch_item i set source_id = n.place from (select source_id, collection,"
            " row_number() over (partition by collection order by source_id) || '' as place from switch_item) n"
            " where n.source_id = i.source_id and n.collection = i.collection"
        )
    return switch


def _compute(switch: JudgedSwitch) -> dict[str, str]:
    with db.unit_of_work(switch.brand.id):
        return digests.compute(organization_id=switch.brand.id, switch_id=switch.id)


@pytest.fixture
def switch(app) -> JudgedSwitch:
    switch = _create(app)
    switch.run()
    return switch


def test_equal_runs_of_two_organizations_have_equal_digests(app, switch):
    # given: the other run takes each slice at another time
    other = _create(app)
    other.start()
    for hours in range(8):
        with db.unit_of_work(other.brand.id):
            now = datetime.now(UTC) - timedelta(hours=hours)
            running.write_next(organization_id=other.brand.id, switch_id=other.id, now=now)
    assert other.find().state == "Completed"

    # then
    computed = _compute(switch)
    assert computed == _compute(other)
    assert list(computed) == ["affiliates", "links", "codes", "customers", "commissions", "all"]
    assert len(set(computed.values())) == 6


@pytest.mark.parametrize(
    ("changed", "sql"),
    [
        ("affiliates", "update affiliate set status = 'Paused'"),
        ("links", "delete from old_token"),
        ("codes", "update affiliate_coupon set code = 'BEN11'"),
        ("customers", "update brought_customer set payments = 3"),
        ("customers", "update import_customer set payments = 3"),
        ("commissions", "update conversion set commission_cents = 1999"),
        ("commissions", "delete from conversion_event where event_type = 'refund'"),
    ],
)
def test_any_difference_changes_the_digest_of_its_collection(switch, changed, sql):
    before = _compute(switch)
    with db.unit_of_work(switch.brand.id):
        db.db.stage(sql)

    after = _compute(switch)

    assert {name for name in before if before[name] != after[name]} == {changed, "all"}


def test_digest_of_an_unknown_switch_is_that_of_nothing(switch):
    with db.unit_of_work(switch.brand.id):
        unknown = digests.compute(organization_id=switch.brand.id, switch_id=UUID(int=1))

    assert len({unknown[name] for name in unknown if name != "all"}) == 1
