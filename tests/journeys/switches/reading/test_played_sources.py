"""Each source is read by jobs as far as one walk over its lists reads it (switch-over rules, "Jobs")."""

import json
from contextlib import ExitStack

import pytest

from commands.demo.played import faults
from commands.demo.played.sample import Sample
from commands.demo.played.source import PlayedResponse
from models import db
from models.switches import switches
from models.switches.staging import reading
from tests.support.settings_overrides import override_settings
from tests.support.switches import reading_runs as runs
from tests.support.switches import walking

# More partners than a page of every source has.
_SAMPLE = Sample(affiliates=260, customers=270, commissions=400)


@pytest.mark.parametrize("name", walking.PLAYED)
def test_jobs_store_the_rows_and_figures_of_a_walk(app, brand, monkeypatch, name):
    with ExitStack() as stack:
        walk = walking.start(stack, name, _SAMPLE)
        override_settings(monkeypatch, switches={f"{name}_base_url": walk.server.url, "requests_per_s": 0.0})
        switch = _read(brand, name, walk)
        walk.walk()

    assert (switch.state, switch.stage) == ("Reading", "judge")
    rows = brand.rows("select collection, source_id, is_mention, data from switch_row")
    stored = {(row[0], row[1]): row[2:] for row in rows}
    expected = {(key[0].value, key[1]): (row.is_mention, _with_text(row.data)) for key, row in walk.rows.items()}
    assert stored == expected
    figures = brand.rows("select name, subject, currency, value from switch_figure")
    assert {row[:3]: row[3] for row in figures} == walk.figures
    with db.unit_of_work(brand.id):
        assert reading.list_warnings(organization_id=brand.id, switch_id=switch.id) == []
        collections = reading.list_collections(organization_id=brand.id, switch_id=switch.id)
    counts = {each.collection: each.read for each in collections}
    assert {name: count for name, count in counts.items() if count} == {
        name: len([key for key in walk.rows if key[0] == name]) for name in {key[0].value for key in walk.rows}
    }


@pytest.mark.parametrize("name", ["rewardful", "tolt", "lemonsqueezy"])
def test_total_that_no_list_has_is_no_total(app, brand, monkeypatch, name):
    def state_total(response):
        body = json.loads(json.dumps(response.body))
        for table in (body, body.get("pagination"), body.get("meta", {}).get("page")):
            if isinstance(table, dict):
                table |= {"total_count": 1 << 31, "total": 1 << 31}
        for row in body["data"] if isinstance(body["data"], list) else ():
            row["affiliates"] = 1 << 31  # of a campaign
        return PlayedResponse(body, response.status, response.headers)

    with ExitStack() as stack:
        walk = walking.start(stack, name)
        override_settings(monkeypatch, switches={f"{name}_base_url": walk.server.url, "requests_per_s": 0.0})
        walk.server.faults.add(faults.change(state_total, times=10_000))
        switch = _read(brand, name, walk)

    assert (switch.state, switch.stage) == ("Reading", "judge")


def _with_text(value):
    """Return JSON with its decimals as text."""
    return json.loads(json.dumps(value), parse_float=str)


def _read(brand, name, walk):
    switch = runs.connect(brand, source=name, **walk.context.credentials)
    with db.unit_of_work(brand.id):
        campaigns = switches.list_campaigns(organization_id=brand.id, switch_id=switch.id)
    assert sorted(campaign.source_id for campaign in campaigns) == sorted(walk.context.campaigns)
    program_id = brand.program()
    mapping = [{"source_id": campaign.source_id, "program_id": program_id} for campaign in campaigns]
    switch = runs.change(brand, switch, campaigns=mapping, options={"currency": walk.context.options.currency})
    return runs.read(brand, runs.act(brand, switch, "start_reading"))
