"""What an undo removes: all that the run has written, and nothing else. Source: the switch-over rules, "Undo"."""

from datetime import UTC, datetime, timedelta

import pytest

from domain.refusals import Refused
from models import db
from tests.support.rows.brands import Brand
from tests.support.running import row_ids
from tests.support.switches import undoing
from tests.support.switches.judged_rows import NOW, JudgedSwitch, list_exceptions

_TABLES = (
    "affiliate",
    "tracking_link",
    "old_token",
    "affiliate_coupon",
    "brought_customer",
    "program_customer",
    "import_customer",
    "conversion",
    "conversion_event",
    "refund",
    "reversal",
)


@pytest.fixture
def brand(app) -> Brand:
    brand = Brand.create(app)
    brand.program()
    return brand


def _count(brand: Brand) -> dict[str, int]:
    """Return how many rows the brand has in each table; deleted affiliates and links don't count."""
    undeleted = "deleted_at is null"
    return {
        table: brand.rows(
            f"select count(*) from {table} where {undeleted if table in ('affiliate', 'tracking_link') else 'true'}"
        )[0][0]
        for table in _TABLES
    }


def _fill(switch: JudgedSwitch) -> None:
    link_id = row_ids.new_id()
    ben = switch.affiliate("ben@example.com", link_id=link_id)
    switch.link(ben, row_ids.new_id(), slug="ben-blog")
    switch.link(ben, link_id, old_token="b.en")
    switch.code(ben, "BEN10")
    switch.customer(ben, "cus_1", payments=3, added_payments=3, processor_subscription_id="sub_1")
    switch.customer(ben, "cus_2", first_paid_at=None, payments=0, added_payments=0)
    switch.commission(ben, processor_customer_id="cus_1", customer_email="cus-1@example.com")
    switch.commission(ben, status="Approved", is_locked=False, refunded_cents=100)
    switch.commission(ben, status="Refunded")
    sale = switch.commission(ben, status="Approved", is_locked=False)
    switch.commission(ben, act="refund", conversion_id=sale, commission_cents=500, refunded_cents=2_500)


def test_undo_without_any_use_removes_everything(brand):
    # given
    before = _count(brand)
    switch = JudgedSwitch(brand)
    _fill(switch)
    switch.run()
    assert _count(brand)["conversion"] == 4

    # when
    undoing.undo(switch)

    # then
    assert _count(brand) == before
    undone = switch.find()
    assert (undone.state, undone.stage) == ("Undone", None)
    assert undone.undone_at is not None
    assert {counts["remaining"] for counts in undone.result.values()} == {0}
    assert brand.rows("select attribution_params from organization") == [(None,)]
    assert brand.rows("select sum(amount_cents)::int from ledger_entry") == [(0,)]
    assert brand.rows("select sum(net_cents)::int from affiliate_revenue") == [(0,)]
    assert brand.rows("select status from import_job") == [("Undone",), ("Undone",)]
    assert list_exceptions(brand.id) == []


def test_rows_that_went_are_brought_again_by_a_new_switch(brand):
    switch = JudgedSwitch(brand)
    _fill(switch)
    switch.run()
    written = _count(brand)
    undoing.undo(switch)

    again = JudgedSwitch(brand)
    _fill(again)
    again.run()

    assert again.find().result["affiliates"]["created"] == 1
    assert again.find().result["links"] == {"created": 2, "merged": 0, "changed": 0, "left_out": 0}
    assert _count(brand) == written
    assert list_exceptions(brand.id) == []


def test_preview_counts_what_would_go_and_what_would_no_longer_be_owed(brand):
    switch = JudgedSwitch(brand, options={"unpaid": "payable"})
    _fill(switch)
    switch.run()

    result = undoing.preview(switch)

    assert result == {
        "possible": True,
        "until": switch.find().undo_until,
        "would_remove": {"affiliates": 1, "links": 2, "codes": 1, "customers": 2, "commissions": 5},
        "would_keep": {"affiliates": 0, "links": 0, "codes": 0, "customers": 0, "commissions": 0},
        "kept_because": {},
        "taken_back": [{"currency": "USD", "cents": 2_000 + 1_500}],
    }
    assert _count(brand)["conversion"] == 4


def test_ledger_adds_up_between_slices(brand):
    switch = JudgedSwitch(brand)
    _fill(switch)
    switch.run()
    undoing.start(switch)

    slices = 0
    while switch.find().state == "Undoing":
        undoing.take_next_slice(switch)
        slices += 1
        assert list_exceptions(brand.id) == []

    assert slices >= 6


def test_repeated_slice_takes_nothing_back_twice(brand):
    # given: two customers' payments of one person, of whom only the switch brought two
    switch = JudgedSwitch(brand)
    ben = switch.affiliate("ben@example.com")
    switch.customer(ben, "cus_1", payments=2, added_payments=2)
    switch.run()
    with db.unit_of_work(brand.id):
        db.db.stage("update program_customer set payments = payments + 1 where customer_key = 'id:cus_1'")
    undoing.start(switch)

    # when
    for _ in range(12):
        undoing.take_next_slice(switch)

    # then
    assert switch.find().state == "Undone"
    assert brand.rows("select payments from program_customer where customer_key = 'id:cus_1'") == [(1,)]


@pytest.mark.parametrize("status", ["Paid", "Refunded", "Denied"])
@pytest.mark.parametrize("is_locked", [True, False])
def test_changed_commission_gets_its_former_state_back(brand, status, is_locked):
    # given
    first = JudgedSwitch(brand)
    ben = first.affiliate("ben@example.com")
    before = "Pending" if is_locked else "Approved"
    sale = first.commission(ben, status=before, is_locked=is_locked)
    first.run()
    owed = brand.rows("select coalesce(sum(amount_cents), 0)::int from ledger_entry")
    second = JudgedSwitch(brand)
    second.commission(ben, act="change", conversion_id=sale, status=status, is_locked=is_locked or status == "Paid")
    second.run()

    # when
    undoing.undo(second)

    # then
    assert brand.rows("select status, payout_locked, refunded_cents, reversed_cents, refunded_at from conversion") == [
        (before, is_locked, 0, 0, None)
    ]
    assert brand.rows("select coalesce(sum(amount_cents), 0)::int from ledger_entry") == owed
    assert brand.rows("select net_cents::int from affiliate_revenue") == [(10_000,)]
    assert list_exceptions(brand.id) == []


def test_refund_of_an_earlier_sale_is_taken_back_and_can_be_brought_again(brand):
    # given
    first = JudgedSwitch(brand)
    ben = first.affiliate("ben@example.com")
    sale = first.commission(ben, status="Approved", is_locked=False)
    first.run()
    refund_id = row_ids.new_id()
    refund = {"act": "refund", "conversion_id": sale, "commission_cents": 500, "refunded_cents": 2_500}

    for _ in range(2):
        second = JudgedSwitch(brand)
        second.commission(ben, target=refund_id, **refund)
        second.run()
        assert brand.rows("select refunded_cents, reversed_cents from conversion") == [(2_500, 500)]

        # when
        undoing.undo(second)

        # then
        assert brand.rows("select refunded_cents, reversed_cents, status from conversion") == [(0, 0, "Approved")]
        assert brand.rows("select sum(amount_cents)::int from ledger_entry") == [(2_000,)]
        assert list_exceptions(brand.id) == []


def test_changed_customer_becomes_who_they_were(brand):
    # given: a second switch brings two more payments, and another affiliate
    first = JudgedSwitch(brand)
    ben, eve = first.affiliate("ben@example.com"), first.affiliate("eve@example.com")
    customer = first.customer(ben, "cus_1")
    first.run()
    before = brand.rows("select * from brought_customer")
    second = JudgedSwitch(brand)
    second.customer(eve, "cus_1", customer_id=customer, payments=3, added_payments=2, seen_at=NOW)
    second.run()
    assert brand.rows("select payments from program_customer where customer_key = 'id:cus_1'") == [(3,)]

    # when
    undoing.undo(second)

    # then
    assert brand.rows("select * from brought_customer") == before
    assert brand.rows("select payments from program_customer where customer_key = 'id:cus_1'") == [(1,)]


def test_merged_affiliate_stays_without_what_came(brand):
    switch = JudgedSwitch(brand)
    there = brand.affiliate("ben-here", email="ben@example.com")
    ben = switch.affiliate("ben@example.com", link_id=row_ids.new_id())
    switch.link(ben, row_ids.new_id(), slug="ben-blog")
    switch.link(ben, row_ids.new_id(), old_token="b.en", slug="ben-blog-2")
    switch.code(ben, "BEN10")
    switch.commission(ben)
    switch.run()

    undoing.undo(switch)

    assert brand.rows("select id from affiliate where deleted_at is null") == [(there,)]
    assert brand.rows("select slug from tracking_link where deleted_at is null") == [("ben-here",)]
    assert _count(brand) | {"affiliate": 0, "tracking_link": 0} == dict.fromkeys(_TABLES, 0)


def test_imports_wait_for_an_undo(brand):
    switch = JudgedSwitch(brand)
    switch.affiliate("ben@example.com")
    switch.run()
    undoing.start(switch)

    answer = brand.person().post(
        "/api/v1/affiliates/import",
        {"programId": str(brand.programs[0]), "affiliates": [{"email": "eve@example.com"}]},
    )

    assert (answer.status_code, answer.json["error"]) == (409, "migration_already_in_progress")


def test_undo_waits_for_a_run_of_another_switch(brand):
    first = JudgedSwitch(brand)
    first.affiliate("ben@example.com")
    first.run()
    second = JudgedSwitch(brand)
    second.affiliate("eve@example.com")
    second.start()

    with pytest.raises(Refused) as refused:
        undoing.start(first)

    assert (refused.value.status, refused.value.code) == (409, "migration_already_in_progress")
    assert first.find().state == "Completed"


def test_undo_is_refused_after_its_time(brand):
    switch = JudgedSwitch(brand)
    switch.affiliate("ben@example.com")
    switch.run()
    late = datetime.now(UTC) + timedelta(days=14, minutes=1)

    with pytest.raises(Refused) as refused:
        undoing.start(switch, now=late)

    assert (refused.value.status, refused.value.code) == (409, "undo_expired")
    assert undoing.preview(switch, now=late)["possible"] is False


def test_undo_of_a_switch_that_has_not_run_is_refused(brand):
    switch = JudgedSwitch(brand)

    for act in (undoing.start, undoing.preview):
        with pytest.raises(Refused) as refused:
            act(switch)
        assert (refused.value.status, refused.value.code) == (409, "switch_not_completed")


def test_second_undo_is_refused(brand):
    switch = JudgedSwitch(brand)
    switch.affiliate("ben@example.com")
    switch.run()

    for do in (undoing.start, undoing.undo):
        if do is undoing.undo:
            switch.run_jobs()
        else:
            do(switch)
        with pytest.raises(Refused) as refused:
            undoing.start(switch)
        assert (refused.value.status, refused.value.code) == (409, "switch_already_undone")


def test_parameter_stays_until_no_switch_has_links_with_it(brand):
    # given: both switches have links with the parameter that the first one added
    first = JudgedSwitch(brand)
    first.affiliate("ben@example.com")
    first.run()
    second = JudgedSwitch(brand)
    second.affiliate("eve@example.com")
    second.run()

    undoing.undo(first)
    assert brand.rows("select attribution_params from organization") == [("ref_token_param",)]

    undoing.undo(second)
    assert brand.rows("select attribution_params from organization") == [(None,)]
