"""An account that is read again: only what its latest reading brought is judged (switch-over rules, "Jobs")."""

from collections import Counter

import pytest

from adapters import clock
from commands.demo.played.sample import Sample
from models import db
from models.switches import switches
from models.switches.staging import reading
from pipelines.switches import changes
from tests.support.job_queues import drain
from tests.support.switches.played_switch import switching

_SAMPLE = Sample(campaigns=1)


@pytest.fixture
def brand(brand):
    brand.program()
    return brand


def _delete(rows, is_gone):
    """Delete the matching rows of the account, and return how many there were."""
    places = [place for place in range(len(rows)) if is_gone(rows[place])]
    for place in reversed(places):
        rows.delete(place)
    return len(places)


def _sum_owed(preview):
    return sum(row["owed_cents"] for row in preview["money"])


def test_commissions_deleted_there_between_two_readings_are_not_payable(brand, monkeypatch):
    with switching(brand, monkeypatch, "rewardful", _SAMPLE, unpaid="payable") as switch:
        switch.connect()
        switch.read()
        assert _sum_owed(switch.find().preview) > 0
        all_rows = len(switch.account["commissions"])
        deleted = _delete(switch.account["commissions"], lambda row: row["state"] == "due")
        switch.read()
        preview = switch.find().preview
        switch.run()

        assert _sum_owed(preview) == 0
        assert preview["counts"]["commissions"]["read"] == all_rows - deleted > 0
        assert [row for row in preview["figures"] if row["difference"] and row["name"].startswith("total_")] == []
        assert preview["warnings"] == []
        assert brand.rows("select count(*) from conversion where status = 'Approved'") == [(0,)]
        with db.unit_of_work(brand.id):
            collections = reading.list_collections(organization_id=brand.id, switch_id=switch.id)
        assert {each.collection: each.read for each in collections}["commissions"] == all_rows - deleted


def test_affiliate_deleted_there_stays_only_where_sales_name_them(brand, monkeypatch):
    with switching(brand, monkeypatch, "rewardful", _SAMPLE) as switch:
        switch.connect()
        switch.read()
        referrers = Counter(row["sale"]["affiliate"]["id"] for row in switch.account["commissions"])
        gone = next(iter(referrers))
        assert _delete(switch.account["affiliates"], lambda row: row["id"] == gone) == 1
        switch.read()
        switch.read()  # the mention of the reading before counts no more than its row

        rows = brand.rows("select is_mention from switch_row where collection = 'affiliates' and source_id = %s", gone)
        assert rows == [(True,)]
        statuses = brand.rows("select decision->>'status' from switch_item where source_id = %s", gone)
        assert statuses == [("Rejected",)]
        links = brand.rows("select count(*) from switch_item where collection = 'links' and affiliate_ref = %s", gone)
        assert links == [(0,)]


def test_figures_of_an_earlier_reading_are_dropped(brand, monkeypatch):
    with switching(brand, monkeypatch, "rewardful", _SAMPLE) as switch:
        switch.connect()
        switch.read()
        gone = switch.account["affiliates"][0]["id"]
        assert brand.rows("select count(*) from switch_figure where subject = %s", gone) == [(1,)]
        _delete(switch.account["affiliates"], lambda row: row["id"] == gone)
        switch.read()

        assert brand.rows("select count(*) from switch_figure where subject = %s", gone) == [(0,)]


def test_commission_whose_payment_was_taken_back_is_paid_no_more(brand, monkeypatch):
    with switching(brand, monkeypatch, "tapfiliate", _SAMPLE) as switch:
        switch.connect()
        switch.read()
        count = "select count(*) from switch_item where collection = 'commissions' and kind = 'paid'"
        assert brand.rows(count) > [(0,)]
        rows = switch.account["conversions"]
        for place in range(len(rows)):
            rows.update(place, commissions=[{**row, "_is_paid": False} for row in rows[place]["commissions"]])
        switch.read()

        assert brand.rows(count) == [(0,)]


def test_resumed_reading_keeps_the_rows_from_before_its_pause(brand, monkeypatch):
    with switching(brand, monkeypatch, "rewardful", _SAMPLE) as switch:
        switch.connect()
        switch.read()
        read = switch.find().preview["counts"]
        switch.start_reading()
        with db.unit_of_work(brand.id):
            paused = switches.lock(organization_id=brand.id, switch_id=switch.id)
            switches.update(paused, {"state": "Paused", "paused_in": "Reading"})
        drain()
        with db.unit_of_work(brand.id):
            changes.resume(organization_id=brand.id, switch_id=switch.id, now=clock.now())
        drain()

        assert switch.find().state == "Ready"
        assert switch.find().preview["counts"] == read


def test_sales_of_a_deleted_affiliate_come_over_of_an_account_with_two_campaigns(brand, monkeypatch):
    with switching(brand, monkeypatch, "rewardful", Sample(campaigns=2)) as switch:
        gone = switch.account["commissions"][0]["sale"]["affiliate"]["id"]
        _delete(switch.account["affiliates"], lambda row: row["id"] == gone)
        switch.connect()
        switch.read()

        # Customers name them without their campaign, commissions with it.
        reasons = "select distinct reason from switch_item where affiliate_ref = %s or source_id = %s"
        assert brand.rows(reasons, gone, gone) == [(None,)]
