"""An open lead expires once, after ninety days without a sale (tracking spec, section 8)."""

from datetime import timedelta

import pytest

from domain import jobs
from models import db
from pipelines import schedule, work
from tests.support.api.racing import at_once, begun
from tests.support.rows.lead_rows import expire, record
from tests.support.rows.leads import signed, states
from tests.support.rows.program_rows import ago


def test_open_lead_expires_after_ninety_days(brand, ben):
    record(brand, ben, "old@example.com", occurred_at=ago(days=90))
    record(brand, ben, "new@example.com", occurred_at=ago(days=90) + timedelta(hours=1))

    expire()
    expire()

    assert states(brand) == ["Expired", "Open"]


@pytest.mark.parametrize("state", ["Converted", "Invalidated"])
def test_only_open_leads_expire(brand, ben, state):
    record(brand, ben, occurred_at=ago(days=100))
    brand.rows("update lead set state = %s, converted_by_conversion_id = id, converted_at = now() returning id", state)

    expire()

    assert states(brand) == [state]


def test_expired_lead_may_be_recorded_again(brand, ben):
    record(brand, ben, occurred_at=ago(days=90))
    expire()

    response = signed(brand, email="ada@example.com")

    assert "leadId" in response.json
    assert states(brand) == ["Expired", "Open"]


@pytest.mark.parametrize("state", ["Converted", "Invalidated"])
def test_converted_or_invalidated_lead_is_deduplicated(brand, ben, state):
    record(brand, ben)
    brand.rows("update lead set state = %s, converted_by_conversion_id = id, converted_at = now() returning id", state)

    assert signed(brand, email="ada@example.com").json == {"ok": True, "deduped": True}


def test_leads_of_every_tenant_expire_in_batches(brand, rival, ben, drain, monkeypatch):
    expire()  # leads that other tests left due
    rival.program()
    rita = rival.affiliate("rita")
    monkeypatch.setattr("pipelines.leads.lifecycle._BATCH", 2)
    for number in range(5):
        record(
            brand if number % 2 else rival, ben if number % 2 else rita, f"{number}@e.test", occurred_at=ago(days=91)
        )
    with db.any_org_work():
        work.enqueue(jobs.LEADS_EXPIRE, organization_id=None)

    jobs_run = drain()

    assert {*states(brand), *states(rival)} == {"Expired"}
    assert jobs_run == 3


def test_concurrent_expiries_expire_each_lead_once(brand, ben):
    for number in range(20):
        record(brand, ben, f"{number}@example.com", occurred_at=ago(days=91))

    at_once(expire, expire)

    assert set(states(brand)) == {"Expired"}


def test_locked_lead_expires_on_the_next_run(brand, ben):
    lead_id = record(brand, ben, occurred_at=ago(days=91))

    with db.unit_of_work(brand.id):
        db.db.run("select from lead where id = %s for update", (lead_id,))
        begun(expire)()
    states_while_locked = states(brand)
    expire()

    assert (states_while_locked, states(brand)) == (["Open"], ["Expired"])


def test_expiry_runs_once_a_day():
    (cron,) = [entry.cron for entry in schedule.SCHEDULE if entry.job is jobs.LEADS_EXPIRE]

    assert cron.split()[2:] == ["*"] * 3
    assert all(part.isdigit() for part in cron.split()[:2])
