"""An open lead expires once, after ninety days without a sale (tracking spec, section 8)."""

from datetime import timedelta

import pytest

from domain import jobs
from models import db
from pipelines import schedule, work
from tests.support.api.concurrency import run_concurrently, start_call
from tests.support.rows.lead_rows import expire_leads, record_lead
from tests.support.rows.leads import list_lead_states, post_signed_lead
from tests.support.rows.program_rows import time_ago


def test_open_lead_expires_after_ninety_days(brand, ben):
    record_lead(brand, ben, "old@example.com", occurred_at=time_ago(days=90))
    record_lead(brand, ben, "new@example.com", occurred_at=time_ago(days=90) + timedelta(hours=1))

    expire_leads()
    expire_leads()

    assert list_lead_states(brand) == ["Expired", "Open"]


@pytest.mark.parametrize("state", ["Converted", "Invalidated"])
def test_only_open_leads_expire(brand, ben, state):
    record_lead(brand, ben, occurred_at=time_ago(days=100))
    brand.rows("update lead set state = %s, converted_by_conversion_id = id, converted_at = now() returning id", state)

    expire_leads()

    assert list_lead_states(brand) == [state]


def test_expired_lead_may_be_recorded_again(brand, ben):
    record_lead(brand, ben, occurred_at=time_ago(days=90))
    expire_leads()

    response = post_signed_lead(brand, email="ada@example.com")

    assert "leadId" in response.json
    assert list_lead_states(brand) == ["Expired", "Open"]


@pytest.mark.parametrize("state", ["Converted", "Invalidated"])
def test_converted_or_invalidated_lead_is_deduplicated(brand, ben, state):
    record_lead(brand, ben)
    brand.rows("update lead set state = %s, converted_by_conversion_id = id, converted_at = now() returning id", state)

    assert post_signed_lead(brand, email="ada@example.com").json == {"ok": True, "deduped": True}


def test_leads_of_every_tenant_expire_in_batches(brand, rival, ben, drain, monkeypatch):
    expire_leads()  # leads that other tests left due
    rival.program()
    rita = rival.affiliate("rita")
    monkeypatch.setattr("pipelines.leads.lifecycle._BATCH", 2)
    for number in range(5):
        record_lead(
            brand if number % 2 else rival,
            ben if number % 2 else rita,
            f"{number}@e.test",
            occurred_at=time_ago(days=91),
        )
    with db.any_org_work():
        work.enqueue(jobs.LEADS_EXPIRE, organization_id=None)

    jobs_run = drain()

    assert {*list_lead_states(brand), *list_lead_states(rival)} == {"Expired"}
    assert jobs_run == 3


def test_concurrent_expiries_expire_each_lead_once(brand, ben):
    for number in range(20):
        record_lead(brand, ben, f"{number}@example.com", occurred_at=time_ago(days=91))

    run_concurrently(expire_leads, expire_leads)

    assert set(list_lead_states(brand)) == {"Expired"}


def test_locked_lead_expires_on_the_next_run(brand, ben):
    lead_id = record_lead(brand, ben, occurred_at=time_ago(days=91))

    with db.unit_of_work(brand.id):
        db.db.run("select from lead where id = %s for update", (lead_id,))
        start_call(expire_leads)()
    states_while_locked = list_lead_states(brand)
    expire_leads()

    assert (states_while_locked, list_lead_states(brand)) == (["Open"], ["Expired"])


def test_expiry_runs_once_a_day():
    (cron,) = [entry.cron for entry in schedule.SCHEDULE if entry.job is jobs.LEADS_EXPIRE]

    assert cron.split()[2:] == ["*"] * 3
    assert all(part.isdigit() for part in cron.split()[:2])
