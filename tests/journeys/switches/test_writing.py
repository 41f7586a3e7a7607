"""What a run writes: affiliates, links, codes, customers and commissions, once, with a ledger that adds up.

Source: the switch-over rules, "How rows become records" and "Jobs".
"""

from datetime import UTC, datetime, timedelta

import pytest

from domain.refusals import Refused
from models import db
from pipelines.switches import running
from tests.support.rows.brands import Brand
from tests.support.running import row_ids
from tests.support.settings_overrides import override_settings
from tests.support.switches.judged_rows import NOW, TO_CONFIRM, JudgedSwitch, list_exceptions


@pytest.fixture
def brand(app) -> Brand:
    brand = Brand.create(app)
    brand.program()
    return brand


def test_run_writes_each_collection_and_completes(brand):
    # given
    switch = JudgedSwitch(brand)
    link_id = row_ids.new_id()
    ben = switch.affiliate("ben@example.com", link_id=link_id, tags=("Agencies",), wallet_email="pay@example.com")
    switch.link(ben, row_ids.new_id(), slug="ben-blog")
    switch.link(ben, link_id, old_token="x")
    switch.code(ben, "BEN10")
    switch.customer(ben, "cus_1", payments=3, added_payments=3)
    switch.commission(ben)

    # when
    switch.run()

    # then
    completed = switch.find()
    assert (completed.state, completed.stage, completed.credentials_sealed) == ("Completed", None, None)
    assert completed.undo_until is not None and completed.undo_until > datetime.now(UTC)
    assert completed.result == {
        "affiliates": {"created": 1, "merged": 0, "changed": 0, "left_out": 0},
        "links": {"created": 2, "merged": 0, "changed": 0, "left_out": 0},
        "codes": {"created": 1, "merged": 0, "changed": 0, "left_out": 0},
        "customers": {"created": 1, "merged": 0, "changed": 0, "left_out": 0},
        "commissions": {"created": 1, "merged": 0, "changed": 0, "left_out": 0},
    }
    assert brand.rows("select status, tags, wallet_email from affiliate") == [
        ("Approved", ["Agencies"], "pay@example.com")
    ]
    assert brand.rows("select slug, is_default from tracking_link order by slug") == [
        ("ben", True),
        ("ben-blog", False),
    ]
    assert brand.rows("select token, link_id from old_token") == [("x", link_id)]
    assert brand.rows("select code, origin, status from affiliate_coupon") == [("BEN10", "external", "Active")]
    assert brand.rows("select customer_id, payments, cut_over_at from brought_customer") == [("cus_1", 3, NOW)]
    assert brand.rows("select payments from program_customer where customer_key = 'id:cus_1'") == [(3,)]
    assert brand.rows("select source, attribution_method, status, payout_locked, commission_cents from conversion") == [
        ("import", "historical_import:rewardful", "Paid", True, 2_000)
    ]
    assert brand.rows("select attribution_params from organization") == [("ref_token_param",)]
    assert list_exceptions(brand.id) == []


@pytest.mark.parametrize("days", [1, 30])
def test_completed_run_is_audited_and_its_undo_ends_by_setting(brand, monkeypatch, days):
    override_settings(monkeypatch, switches={"undo_days": days})
    switch = JudgedSwitch(brand)
    switch.affiliate("ben@example.com")

    switch.run()

    completed = switch.find()
    assert completed.undo_until - completed.completed_at == timedelta(days=days)
    entries = brand.rows("select action, actor_type from audit_entry where entity_id = %s", str(switch.id))
    assert entries == [("switch.completed", "system")]


def test_run_writes_to_nobody(brand):
    switch = JudgedSwitch(brand)
    ben = switch.affiliate("ben@example.com")
    switch.commission(ben, status="Approved", is_locked=False)

    switch.run()

    assert brand.rows("select count(*) from event") == [(0,)]
    assert brand.rows("select count(*) from mail_message") == [(0,)]
    assert brand.rows("select count(*) from job") == [(0,)]


def test_payable_commissions_are_owed_and_history_is_not(brand):
    switch = JudgedSwitch(brand)
    ben = switch.affiliate("ben@example.com")
    switch.commission(ben, status="Approved", is_locked=False, commission_cents=700)
    switch.commission(ben, status="Pending", is_locked=False, commission_cents=300, hold_until=NOW)
    switch.commission(ben, status="Pending", commission_cents=900)
    switch.commission(ben, status="Denied", commission_cents=500)

    switch.run()

    assert brand.rows("select sum(amount_cents)::int from ledger_entry") == [(1_000,)]
    assert brand.rows("select hold_until from conversion where commission_cents = 300") == [(NOW,)]
    assert list_exceptions(brand.id) == []


def test_refunds_there_are_noted_without_changing_a_balance(brand):
    switch = JudgedSwitch(brand)
    ben = switch.affiliate("ben@example.com")
    part = switch.commission(ben, refunded_cents=4_000, commission_cents=1_200)
    whole = switch.commission(ben, status="Refunded")
    left_with_commission = switch.commission(ben, refunded_cents=10_000)

    switch.run()

    rows = brand.rows("select id, status, refunded_cents, reversed_cents from conversion")
    assert {row[0]: row[1:] for row in rows} == {
        part: ("Paid", 4_000, 0),
        whole: ("Refunded", 10_000, 2_000),
        left_with_commission: ("Paid", 10_000, 0),
    }
    assert list_exceptions(brand.id) == []


def test_a_negative_row_takes_back_from_its_sale_up_to_what_is_left(brand):
    switch = JudgedSwitch(brand)
    ben = switch.affiliate("ben@example.com")
    sale = switch.commission(ben, status="Approved", is_locked=False)
    refund = {"act": "refund", "conversion_id": sale, "status": "Approved", "is_locked": False}
    switch.commission(ben, **refund, commission_cents=500, refunded_cents=2_500)
    switch.commission(ben, **refund, commission_cents=9_000, refunded_cents=9_000)

    switch.run()

    assert brand.rows("select status, refunded_cents, reversed_cents from conversion") == [("Refunded", 10_000, 2_000)]
    assert brand.rows("select coalesce(sum(amount_cents), 0)::int from ledger_entry") == [(0,)]
    assert list_exceptions(brand.id) == []


@pytest.mark.parametrize("status", ["Paid", "Refunded", "Denied"])
@pytest.mark.parametrize("is_locked", [True, False])
def test_a_later_switch_brings_the_later_state(brand, status, is_locked):
    # given: a commission that was still owed there
    first = JudgedSwitch(brand)
    ben = first.affiliate("ben@example.com")
    before = "Pending" if is_locked else "Approved"
    sale = first.commission(ben, status=before, is_locked=is_locked)
    first.run()

    # when
    second = JudgedSwitch(brand)
    second.commission(ben, act="change", conversion_id=sale, status=status, is_locked=is_locked or status == "Paid")
    second.run()

    # then
    assert second.find().result["commissions"]["changed"] == 1
    assert brand.rows("select status from conversion") == [(status,)]
    assert brand.rows(
        "select coalesce(sum(l.amount_cents), 0)::int from ledger_entry l join conversion c"
        " on c.id = l.conversion_id where not c.payout_locked"
    ) == [(0,)]
    assert list_exceptions(brand.id) == []


def test_someone_who_joined_since_the_preview_is_merged(brand):
    # given: ben joins between the preview and the run, with another link
    switch = JudgedSwitch(brand)
    link_id = row_ids.new_id()
    ben = switch.affiliate("ben@example.com", link_id=link_id)
    switch.link(ben, link_id, old_token="b.en")
    switch.customer(ben, "cus_1")
    switch.commission(ben)
    there = brand.affiliate("ben-here", email="ben@example.com")

    # when
    switch.run()

    # then
    assert brand.rows("select id from affiliate") == [(there,)]
    assert brand.rows("select affiliate_id from conversion") == [(there,)]
    assert brand.rows("select affiliate_id from brought_customer") == [(there,)]
    assert brand.rows("select l.slug, t.token from old_token t join tracking_link l on l.id = t.link_id") == [
        ("ben-here", "b.en")
    ]
    assert switch.find().result["affiliates"]["merged"] == 1


def test_affiliate_who_was_deleted_since_the_preview_gets_nothing(brand):
    # given
    switch = JudgedSwitch(brand)
    ann = brand.affiliate("ann", email="ann@example.com")
    switch.link(ann, row_ids.new_id(), slug="ann-blog")
    switch.code(ann, "ANN10")
    switch.customer(ann, "cus_1")
    switch.commission(ann, status="Approved", is_locked=False)
    deletion = {"action": "delete", "affiliateIds": [str(ann)]}
    assert brand.post("/api/v1/affiliates/bulk-action", deletion).status_code == 200

    # when
    switch.run()

    # then
    result = switch.find().result
    for collection, table in (
        ("links", "tracking_link where slug = 'ann-blog'"),
        ("codes", "affiliate_coupon"),
        ("customers", "brought_customer"),
        ("commissions", "conversion"),
    ):
        assert result[collection] == {"created": 0, "merged": 0, "changed": 0, "left_out": 1}
        assert brand.rows(f"select count(*) from {table}") == [(0,)]


def test_groups_are_created_once_and_reused(brand):
    switch = JudgedSwitch(brand)
    rate = {"group_name": "Gold", "group_type": "Percentage", "group_value": "25"}
    ben = switch.affiliate("ben@example.com", **rate)
    ann = switch.affiliate("ann@example.com", **rate)

    switch.run()

    ((group_id, value),) = brand.rows("select id, commission_value from partner_group where name = 'Gold'")
    assert value == 25
    assert set(brand.rows("select id, partner_group_id from affiliate")) == {(ben, group_id), (ann, group_id)}


def test_person_whom_only_commissions_name_is_rejected_without_a_link(brand):
    switch = JudgedSwitch(brand)
    gone = switch.affiliate("gone@example.com", status="Rejected", link_id=None, slug=None)
    switch.commission(gone)

    switch.run()

    assert brand.rows("select status, approved_at from affiliate") == [("Rejected", None)]
    assert brand.rows("select count(*) from tracking_link") == [(0,)]
    assert brand.rows("select affiliate_id from conversion") == [(gone,)]


def test_a_slug_and_a_code_taken_since_the_preview_are_not_taken_away(brand):
    switch = JudgedSwitch(brand)
    ben = switch.affiliate("ben@example.com")
    switch.link(ben, row_ids.new_id(), slug="blog")
    brand.affiliate("ben", email="other@example.com")
    brand.affiliate("blog", email="third@example.com")

    switch.run()

    slugs = dict(brand.rows("select a.email, l.slug from tracking_link l join affiliate a on a.id = l.affiliate_id"))
    assert slugs["other@example.com"] == "ben" and slugs["third@example.com"] == "blog"
    assert slugs["ben@example.com"] not in ("ben", "blog")
    assert switch.find().result["links"]["left_out"] == 1


def test_a_repeated_slice_writes_nothing_twice(brand):
    # given: the job of the first slice is done again, as after a crash of the relay
    switch = JudgedSwitch(brand)
    ben = switch.affiliate("ben@example.com")
    for _ in range(3):
        switch.commission(ben)
    switch.start()

    # when
    for _ in range(12):
        with db.unit_of_work(brand.id):
            running.write_next(organization_id=brand.id, switch_id=switch.id, now=datetime.now(UTC))

    # then
    assert switch.find().state == "Completed"
    assert brand.rows("select count(*) from conversion") == [(3,)]
    assert switch.find().result["commissions"]["created"] == 3


@pytest.mark.parametrize(
    "change",
    [{"affiliates": 2}, {"payable": []}, {"payable": [{"currency": "EUR", "cents": 100}]}, {"commissions": 0}],
)
def test_other_totals_than_those_of_the_preview_are_refused(brand, change):
    switch = JudgedSwitch(brand)

    with db.unit_of_work(brand.id), pytest.raises(Refused) as refused:
        running.start(
            organization_id=brand.id,
            switch_id=switch.id,
            member_id=None,
            confirm=TO_CONFIRM | change,
            now=datetime.now(UTC),
        )

    assert (refused.value.status, refused.value.code) == (409, "preview_changed")
    assert switch.find().state == "Ready"


def test_imports_wait_for_a_switch_that_writes(brand):
    switch = JudgedSwitch(brand)
    switch.affiliate("ben@example.com")
    switch.start()
    owner = brand.person()

    answer = owner.post(
        "/api/v1/affiliates/import",
        {"programId": str(brand.programs[0]), "affiliates": [{"email": "eve@example.com"}]},
    )

    assert (answer.status_code, answer.json["error"]) == (409, "migration_already_in_progress")


def test_a_run_is_two_imports_that_only_the_switch_undoes(brand):
    switch = JudgedSwitch(brand)
    ben = switch.affiliate("ben@example.com")
    switch.commission(ben)
    owner = brand.person()
    switch.start()
    assert owner.get("/api/v1/imports").json["items"] == []

    switch.run_jobs()

    listed = owner.get("/api/v1/imports").json["items"]
    assert {(item["kind"], item["imported"], item["switchId"]) for item in listed} == {
        ("Affiliates", 1, str(switch.id)),
        ("Conversions", 1, str(switch.id)),
    }
    for item in listed:
        refused = owner.post(f"/api/imports/{item['jobId']}/undo")
        assert (refused.status_code, refused.json["error"]) == (409, "import_not_undoable")
        assert refused.json["reasons"] == {"switch": 1}
