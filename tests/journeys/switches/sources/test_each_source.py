"""A whole switch from each source: its preview agrees with the source's figures, and running it writes its rows."""

import pytest

from commands.demo.played import faults
from commands.demo.played.sample import Sample
from tests.support.rows.brands import Brand
from tests.support.switches import played_switch
from tests.support.switches.walking import PLAYED

_STATES_COMMISSIONS = tuple(name for name in PLAYED if name != "lemonsqueezy")


@pytest.fixture
def brand(app) -> Brand:
    brand = Brand.create(app)
    brand.program()
    return brand


@pytest.mark.parametrize("name", PLAYED)
def test_preview_counts_each_row_and_asks_to_confirm_it(brand, monkeypatch, name):
    with played_switch.switching(brand, monkeypatch, name) as switch:
        switch.connect()
        switch.read()

        preview = switch.find().preview
    assert preview is not None
    assert preview["to_confirm"] == {"affiliates": 20, "customers": 60, "commissions": 200, "payable": []}
    assert {row["reason"] for row in preview["left_out"]} <= {"code_archived", "status_excluded"}
    assert preview["letters"] == 0
    assert [row["code"] for row in preview["warnings"] if row["code"] == "moved_while_read"] == []


@pytest.mark.parametrize("name", _STATES_COMMISSIONS)
def test_figures_of_the_source_agree_with_what_was_read(brand, monkeypatch, name):
    with played_switch.switching(brand, monkeypatch, name, Sample(currencies=("USD",))) as switch:
        switch.connect()
        switch.read()

        preview = switch.find().preview
    assert preview is not None
    assert preview["figures"]
    assert [row for row in preview["figures"] if row["difference"]] == []
    sample = Sample(currencies=("USD",))
    [money] = preview["money"]
    assert money["commission_cents"] == sum(sample.commission(index).commission_cents for index in range(200))
    assert money["gross_cents"] == sum(sample.commission(index).sale_cents for index in range(200))


@pytest.mark.parametrize("name", PLAYED)
def test_run_creates_each_row_and_never_a_payable_one(brand, monkeypatch, name):
    with played_switch.switching(brand, monkeypatch, name) as switch:
        switch.connect()
        switch.read()
        switch.run()

        stored = switch.find()
    assert (stored.state, stored.credentials_sealed) == ("Completed", None)
    assert stored.result is not None
    assert stored.result["affiliates"]["created"] == 20
    assert brand.rows("select count(*) from affiliate") == [(20,)]
    assert brand.rows("select count(*) from brought_customer") == [(60,)]
    assert brand.rows("select count(*) from conversion where switch_id is not null") == [(200,)]
    assert brand.rows("select count(*) from conversion where not payout_locked") == [(0,)]


@pytest.mark.parametrize("name", PLAYED)
def test_a_second_switch_of_the_same_account_creates_nothing(brand, monkeypatch, name):
    with played_switch.switching(brand, monkeypatch, name) as switch:
        for _ in range(2):
            switch.connect()
            switch.read()
            switch.run()

        result = switch.find().result
    assert result is not None
    assert {collection: counts["created"] for collection, counts in result.items()} == dict.fromkeys(result, 0)
    assert brand.rows("select count(*) from conversion where switch_id is not null") == [(200,)]


@pytest.mark.parametrize("name", PLAYED)
def test_faults_while_reading_change_no_row(brand, monkeypatch, name):
    with played_switch.switching(brand, monkeypatch, name) as switch:
        switch.connect()
        for fault in (faults.respond(500), faults.html(), faults.truncate(), faults.close(), faults.gzip_bomb()):
            fault.skip = 2
            switch.server.faults.add(fault)
        switch.read()
        for _ in range(40):
            switch.let_time_pass()

        stored = switch.find()
    assert stored.state == "Ready"
    assert stored.preview is not None
    assert stored.preview["to_confirm"] == {"affiliates": 20, "customers": 60, "commissions": 200, "payable": []}
