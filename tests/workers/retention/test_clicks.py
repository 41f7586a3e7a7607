"""Old clicks become hourly counts, and all statistics stay the same."""

from datetime import timedelta
from uuid import UUID

from models import db
from pipelines.imports import undo
from tests.support.databases import run_as_brand
from tests.support.rows.fraud_rows import record_blocked_click
from tests.support.rows.program_rows import insert_click, insert_conversion, time_ago
from tests.support.rows.retention_rows import count_brand_rows, end_due
from tests.support.running.hours import start_of_test


def test_old_clicks_become_counts_without_changing_statistics(brand, ben):
    paying_id = insert_conversion(brand, ben, type="ClickReward", source="cpc", occurred_at=time_ago(days=99))
    last_at = time_ago(days=95)
    for columns in (
        {"occurred_at": last_at},
        {"occurred_at": time_ago(days=95, seconds=1)},
        {"occurred_at": time_ago(days=96), "is_duplicate": True, "outcome": "duplicate"},
        {"occurred_at": time_ago(days=97), "sub_id": "mail", "country": "DE"},
        {"occurred_at": time_ago(days=98), "outcome": "earned", "conversion_id": paying_id},
    ):
        insert_click(brand, ben, **columns)
    paths = [f"/api/v1/programs/{brand.programs[-1]}/tracking-status", "/api/v1/programs/stats"]
    stats_before = [brand.get(path).json for path in paths]

    end_due("clicks")

    assert count_brand_rows(brand, "click") == 0
    assert brand.rows("select sum(number)::int, max(last_at) from click_hour") == [(5, last_at)]
    assert brand.rows("select sum(number)::int from click_hour where is_duplicate") == [(1,)]
    assert brand.rows("select sub_id, number from click_hour where sub_id is not null") == [("mail", 1)]
    assert brand.rows("select country, number from click_hour where country is not null") == [("DE", 1)]
    assert brand.rows("select conversion_id from click_hour where conversion_id is not null") == [(paying_id,)]
    assert [brand.get(path).json for path in paths] == stats_before
    assert stats_before[0]["lastClickAt"] is not None


def test_clicks_within_ninety_days_are_kept(brand, ben):
    for days in (1, 40, 89):
        insert_click(brand, ben, occurred_at=time_ago(days=days), visitor_hash=b"v")

    end_due("clicks")

    assert (count_brand_rows(brand, "click"), count_brand_rows(brand, "click_hour")) == (3, 0)


def test_unscored_click_is_kept(brand, ben):
    insert_click(brand, ben, occurred_at=time_ago(days=100), outcome="unscored")

    end_due("clicks")

    assert count_brand_rows(brand, "click", "outcome = 'unscored'") == 1


def test_clicks_of_an_hour_are_one_count_across_slices(brand, ben, small_slices):
    at = time_ago(days=100).replace(minute=0, second=0, microsecond=0)
    for second in range(25):
        insert_click(brand, ben, occurred_at=at + timedelta(seconds=second))

    end_due("clicks")

    assert brand.rows("select number, last_at from click_hour") == [(25, at + timedelta(seconds=24))]


def test_fraud_summary_keeps_the_conversion_of_a_held_click(brand):
    brand.program(click_reward_cents=10)
    ben = brand.affiliate("paid")
    released_id = insert_conversion(brand, ben, type="ClickReward", source="cpc", occurred_at=time_ago(days=100))
    click_id = insert_click(brand, ben, occurred_at=time_ago(days=100), outcome="held", conversion_id=released_id)
    record_blocked_click(brand, ben, subject_id=click_id, action="held", at=time_ago(days=100))
    path = f"/api/v1/fraud-events/summary?programId={brand.programs[-1]}&days=365"
    stats_before = brand.get(path).json

    end_due("clicks")

    assert count_brand_rows(brand, "click") == 0
    assert stats_before["estimatedNotBilledCents"] == 0
    assert brand.get(path).json == stats_before
    assert brand.rows("select conversion_id from fraud_event") == [(released_id,)]


def test_affiliate_with_former_clicks_is_kept_when_an_import_is_undone(brand, ben):
    (import_id,) = brand.rows(
        "insert into import_job (id, organization_id, kind, status, total, imported, skipped, errored, reasons,"
        " created_at) values (gen_random_uuid(), %s, 'Affiliates', 'Completed', 1, 1, 0, 0, '{}', now()) returning id",
        brand.id,
    )[0]
    run_as_brand(brand, "update affiliate set import_job_id = %s where id = %s", import_id, ben)
    insert_click(brand, ben, occurred_at=time_ago(days=100))

    end_due("clicks")

    with db.unit_of_work(brand.id):
        undone = undo.run(organization_id=brand.id, import_id=UUID(str(import_id)), now=start_of_test())
    assert (undone.removed_count, undone.kept_count) == (0, 1)
