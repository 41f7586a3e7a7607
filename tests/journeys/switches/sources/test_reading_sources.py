"""The jobs that read store of each source what walking its lists by hand brings (switch-over rules, "Jobs")."""

from contextlib import ExitStack

import pytest

from adapters.switches import client
from adapters.switches.base import SourceRow
from commands.demo.played import faults
from commands.demo.played.sample import Sample
from domain.switches.sources import Collection
from models import db
from models.switches.staging import reading as models_reading
from tests.support.settings_overrides import override_settings
from tests.support.switches import reading_runs as runs
from tests.support.switches import walking


@pytest.fixture(params=walking.PLAYED)
def walk(request, app, monkeypatch):
    yield from _play(request.param, monkeypatch, Sample())


@pytest.fixture(params=["partnerstack", "tapfiliate", "lemonsqueezy", "dub"])
def long_walk(request, app, monkeypatch):
    """Return an account whose customers fill several pages."""
    sample = Sample(affiliates=20, customers=510, commissions=40, campaigns=1)
    yield from _play(request.param, monkeypatch, sample)


def _play(name, monkeypatch, sample):
    with ExitStack() as stack:
        played = walking.start(stack, name, sample)
        override_settings(monkeypatch, switches={"requests_per_s": 0.0, f"{name}_base_url": played.server.url})
        yield played
        for timeout_s in (client.READ_TIMEOUT_S, client.CONNECT_TIMEOUT_S):
            client._client(client._policy(is_replaced=True, timeout_s=timeout_s)).close()


def _start(brand, walk):
    switch = runs.connect(brand, source=walk.source.info.name, **walk.account.credentials)
    for campaign in walk.context.campaigns:
        switch = runs.map_campaign(brand, switch, campaign)
    if walk.context.options.currency:
        switch = runs.change(brand, switch, options={"currency": walk.context.options.currency})
    return runs.act(brand, switch, "start_reading")


def _read_records(brand, switch, walk):
    rows = brand.rows("select collection, source_id, data, is_mention from switch_row where switch_id = %s", switch.id)
    return {
        (collection, source_id): walk.source.understand(
            SourceRow(Collection(collection), source_id, data, is_mention), walk.context
        )
        for collection, source_id, data, is_mention in rows
    }


def _records_of_walk(walk):
    return {
        (collection.value, source_id): walk.source.understand(row, walk.context)
        for (collection, source_id), row in walk.rows.items()
    }


def _warnings(brand, switch):
    with db.unit_of_work(brand.id):
        return models_reading.list_warnings(organization_id=brand.id, switch_id=switch.id)


def test_rows_and_figures_are_those_of_the_account(brand, walk):
    switch = runs.read(brand, _start(brand, walk))

    assert (switch.state, switch.stage, switch.last_error_code) == ("Reading", "judge", None)
    walk.walk()
    assert _read_records(brand, switch, walk) == _records_of_walk(walk)
    figures = brand.rows("select name, subject, currency, value from switch_figure where switch_id = %s", switch.id)
    assert {tuple(key): value for *key, value in figures} == walk.figures
    assert _warnings(brand, switch) == []


@pytest.mark.parametrize("pages", [0, 6, 500])
def test_campaign_that_is_mapped_while_reading_or_later_is_read(brand, walk, pages):
    # given: all campaigns but the last are mapped, and some pages are read
    first, *further = walk.context.campaigns
    switch = runs.connect(brand, source=walk.source.info.name, **walk.account.credentials)
    switch = runs.map_campaign(brand, switch, first)
    if walk.context.options.currency:
        switch = runs.change(brand, switch, options={"currency": walk.context.options.currency})
    switch = runs.read(brand, runs.act(brand, switch, "start_reading"), max_pages=pages)

    # when
    for campaign in further:
        switch = runs.map_campaign(brand, switch, campaign)
    switch = runs.read(brand, switch)

    # then
    assert (switch.state, switch.stage, switch.last_error_code) == ("Reading", "judge", None)
    walk.walk()
    assert _read_records(brand, switch, walk) == _records_of_walk(walk)


def test_an_interrupted_reading_brings_the_same_rows(brand, walk):
    for number, fault in enumerate((faults.respond(500), faults.html(), faults.close(), faults.truncate())):
        fault.skip = 3 * number + 2
        walk.server.faults.add(fault)
    switch = _start(brand, walk)

    for _ in range(20):
        switch = runs.read(brand, switch)
        if switch.stage == "judge":
            break
        runs.let_time_pass(brand, switch)

    assert (switch.state, switch.stage) == ("Reading", "judge")
    walk.server.faults.clear()
    walk.walk()
    assert _read_records(brand, switch, walk) == _records_of_walk(walk)


def test_credentials_that_are_revoked_meanwhile_pause_the_switch(brand, walk):
    walk.server.faults.add(faults.respond(401, {"error": "no"}, skip=1, times=faults.ALWAYS))

    switch = runs.read(brand, _start(brand, walk))

    assert (switch.state, switch.paused_in, switch.last_error_code) == ("Paused", "Reading", "credentials_refused")
    assert not any(
        value in (switch.last_error_message or "") for value in walk.account.credentials.values() if len(value) > 3
    )


@pytest.mark.parametrize("index", [0, -1, 250])
def test_customers_who_stay_are_read_although_others_are_deleted_and_added(brand, long_walk, index):
    key = "key" if long_walk.source.info.name == "partnerstack" else "id"

    def change(account):
        added = dict(account["customers"][0])
        for _ in range(30):
            account["customers"].delete(index, key=key)
        for number in range(3):
            account["customers"].append({**added, key: f"{added[key]}{number}0"})

    long_walk.server.faults.add(faults.change_account(long_walk.account, change, path="/customers", skip=1))

    switch = runs.read(brand, _start(brand, long_walk))

    assert switch.stage == "judge"
    read = brand.rows("select source_id from switch_row where collection = 'customers' and switch_id = %s", switch.id)
    assert {row[key] for row in long_walk.account["customers"]} <= {source_id for (source_id,) in read}
