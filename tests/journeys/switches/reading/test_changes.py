"""Connect, change and resume a switch (switch-over rules, "Routes")."""

import dataclasses
from uuid import uuid4

import pytest

from adapters.secret_key import sealing
from adapters.switches import registry
from commands.demo.played import faults
from domain.refusals import Refused
from models import db
from models.switches import switches
from pipelines import credentials
from tests.support.settings_overrides import override_settings
from tests.support.switches import reading_runs as runs
from tests.support.switches.small_source import KEY, create_account, play_small
from tests.support.threads import run_in_threads


@pytest.fixture
def account():
    return create_account()


@pytest.fixture
def server(app, monkeypatch, account):
    with play_small(monkeypatch, account) as server:
        yield server


def _find_refusal(act, *arguments, **named):
    with pytest.raises(Refused) as refused:
        act(*arguments, **named)
    return refused.value.status, refused.value.code


def _set(brand, switch, **columns):
    with db.unit_of_work(brand.id):
        locked = switches.lock(organization_id=brand.id, switch_id=switch.id)
        return switches.update(locked, columns)


def _make_ready(brand):
    switch = runs.read(brand, runs.start(brand))
    with db.unit_of_work(brand.id):
        db.db.run("delete from job returning 1")
    return _set(brand, switch, state="Ready", stage=None)


def test_connected_switch_has_the_account_and_its_campaigns(brand, server):
    switch = runs.connect(brand)

    assert (switch.state, switch.source, switch.requests) == ("Connected", "rewardful", 1)
    assert (switch.account_name, switch.account_reference, switch.parameters) == ("Small Inc", "small-inc", ("via",))
    assert credentials.unseal(switch.credentials_sealed, switch.id) == {"apiKey": KEY}
    with db.unit_of_work(brand.id):
        (campaign,) = switches.list_campaigns(organization_id=brand.id, switch_id=switch.id)
    assert (campaign.source_id, campaign.name, campaign.affiliates, campaign.program_id) == ("main", "Main", 7, None)
    assert campaign.terms == {"cookie_window_days": 30}
    assert runs.jobs_of(brand) == []


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (faults.respond(401, {}), (422, "switch_credentials_refused")),
        (faults.html(403), (422, "switch_credentials_refused")),
        (faults.respond(404, {}), (422, "switch_credentials_refused")),
        (faults.respond(500), (503, "switch_source_unreachable")),
        (faults.too_many(), (503, "switch_source_unreachable")),
        (faults.html(200), (503, "switch_source_unreachable")),
        (faults.close(), (503, "switch_source_unreachable")),
        (faults.large(), (503, "switch_source_unreachable")),
        (faults.respond(200, ["no account"]), (503, "switch_source_unreachable")),
    ],
)
def test_account_that_does_not_open_stores_nothing(brand, server, fault, expected):
    server.faults.add(fault)

    assert _find_refusal(runs.connect, brand) == expected
    assert brand.rows("select from switch") == []


def test_source_that_is_down_stores_nothing(app, brand, monkeypatch, account):
    with play_small(monkeypatch, account) as server:
        url = server.url
    override_settings(monkeypatch, switches={"rewardful_base_url": url})

    assert _find_refusal(runs.connect, brand) == (503, "switch_source_unreachable")
    assert brand.rows("select from switch") == []


def test_wrong_key_is_refused(brand, server):
    assert _find_refusal(runs.connect, brand, apiKey="wrong") == (422, "switch_credentials_refused")
    assert _find_refusal(runs.connect, brand, other="field") == (400, "invalid_request")
    assert len(server.log) == 1


def test_organization_has_one_open_switch(brand, rival, server):
    switch = runs.connect(brand)
    assert _find_refusal(runs.connect, brand) == (409, "switch_in_progress")
    assert runs.connect(rival).state == "Connected"

    runs.act(brand, switch, "cancel")
    assert runs.connect(brand).state == "Connected"


def test_switch_that_is_undone_at_the_moment_counts_as_open(brand, server):
    _set(brand, runs.connect(brand), state="Undoing")

    assert _find_refusal(runs.connect, brand) == (409, "switch_in_progress")


def test_two_connections_at_once_make_one_switch(brand, server):
    outcomes = []

    def connect(_):
        try:
            outcomes.append(runs.connect(brand).state)
        except Refused as refused:
            outcomes.append(refused.code)

    run_in_threads(2, connect)
    assert sorted(outcomes) == ["Connected", "switch_in_progress"]


def test_reading_needs_a_campaign_with_a_program(brand, server):
    switch = runs.connect(brand)
    assert _find_refusal(runs.act, brand, switch, "start_reading") == (409, "mapping_missing")

    runs.map_campaign(brand, switch)
    assert runs.act(brand, switch, "start_reading").state == "Reading"
    assert _find_refusal(runs.act, brand, switch, "start_reading") == (409, "switch_not_readable")


def test_source_without_currency_needs_one(brand, server, monkeypatch):
    source = registry.get("rewardful")
    monkeypatch.setattr(type(source), "info", dataclasses.replace(source.info, needs_currency=True))
    switch = runs.map_campaign(brand, runs.connect(brand))
    assert _find_refusal(runs.act, brand, switch, "start_reading") == (409, "currency_required")

    runs.change(brand, switch, options={"currency": "EUR"})
    assert runs.act(brand, switch, "start_reading").state == "Reading"


def test_mapping_refuses_programs_of_others_and_unknown_campaigns(brand, rival, server):
    switch, theirs = runs.connect(brand), rival.program()

    for program_id in (theirs, uuid4()):
        entry = {"source_id": "main", "program_id": program_id}
        assert _find_refusal(runs.change, brand, switch, campaigns=[entry]) == (404, "program_not_found")
    entry = {"source_id": "other", "program_id": brand.program()}
    assert _find_refusal(runs.change, brand, switch, campaigns=[entry]) == (400, "invalid_request")
    assert _find_refusal(runs.change, rival, switch, options={}) == (404, "not_found")


def test_options_change_only_what_is_sent(brand, server):
    switch = runs.connect(brand)
    runs.change(brand, switch, options={"unpaid": "payable", "include_statuses": ("Approved",)})
    switch = runs.change(brand, switch, options={"codes": False})

    assert {name: switch.options[name] for name in ("unpaid", "include_statuses", "codes", "groups")} == {
        "unpaid": "payable",
        "include_statuses": ["Approved"],
        "codes": False,
        "groups": "tag",
    }


def test_commission_is_assumed_only_for_sources_without(brand, server):
    switch = runs.connect(brand)
    assumed = {"type": "Percentage", "value": 20}

    assert _find_refusal(runs.change, brand, switch, options={"assumed_commission": assumed}) == (
        400,
        "invalid_request",
    )


def test_ready_switch_is_judged_again_without_reading_again(brand, server):
    switch = _make_ready(brand)
    request_count = len(server.log)
    with db.unit_of_work(brand.id):
        db.db.run("update switch_collection set normalized_to = 'x', judged_to = 'x' returning 1")

    changed = runs.change(brand, switch, options={"groups": "none"})

    assert (changed.state, changed.stage) == ("Reading", "judge")
    assert [name for name, _ in runs.jobs_of(brand)] == ["switch.judge"]
    assert brand.rows("select distinct normalized_to, judged_to from switch_collection") == [(None, None)]
    assert len(server.log) == request_count


def test_new_credentials_alone_do_not_judge_again(brand, server, account):
    switch = _make_ready(brand)
    account.credentials["apiKey"] = "new"

    changed = runs.change(brand, switch, credentials={"apiKey": "new"})
    assert changed.state == "Ready"
    assert credentials.unseal(changed.credentials_sealed, switch.id) == {"apiKey": "new"}
    assert runs.jobs_of(brand) == []


def test_refused_credentials_change_nothing(brand, server):
    switch = runs.connect(brand)

    body = {"credentials": {"apiKey": "wrong"}, "options": {"codes": False}}
    assert _find_refusal(runs.change, brand, switch, **body) == (422, "switch_credentials_refused")
    after = runs.reload(brand, switch)
    assert (after.options, credentials.unseal(after.credentials_sealed, switch.id)) == ({}, {"apiKey": KEY})


def test_source_is_not_asked_while_it_wants_to_be_left_alone(brand, server):
    server.faults.add(faults.too_many(retry_after_s=60, path="/customers"))
    switch = runs.read(brand, runs.start(brand))
    request_count = len(server.log)

    assert _find_refusal(runs.change, brand, switch, credentials={"apiKey": KEY}) == (503, "switch_source_unreachable")
    assert len(server.log) == request_count


@pytest.mark.parametrize(
    "columns",
    [
        {"state": "Writing"},
        {"state": "Completed"},
        {"state": "Undoing"},
        {"state": "Undone"},
        {"state": "Cancelled"},
        {"state": "Paused", "paused_in": "Writing"},
    ],
)
def test_switch_that_writes_or_ended_is_neither_changed_nor_cancelled_nor_read(brand, server, columns):
    switch = _set(brand, runs.map_campaign(brand, runs.connect(brand)), **columns)

    assert _find_refusal(runs.change, brand, switch, options={"codes": False}) == (409, "switch_not_changeable")
    assert _find_refusal(runs.change, brand, switch, credentials={"apiKey": KEY}) == (409, "switch_not_changeable")
    assert _find_refusal(runs.act, brand, switch, "cancel") == (409, "switch_not_cancellable")
    assert _find_refusal(runs.act, brand, switch, "start_reading") == (409, "switch_not_readable")


def test_only_a_paused_switch_is_resumed(brand, server):
    assert _find_refusal(runs.act, brand, runs.connect(brand), "resume") == (409, "switch_not_paused")


@pytest.mark.parametrize(
    ("paused_in", "stage", "job"),
    [
        ("Reading", "affiliates", "switch.read"),
        ("Reading", "judge", "switch.judge"),
        ("Writing", "links", "switch.write"),
    ],
)
def test_resumed_switch_gets_the_job_of_its_stage(brand, server, paused_in, stage, job):
    switch = _set(brand, runs.connect(brand), state="Paused", paused_in=paused_in, stage=stage)

    resumed = runs.act(brand, switch, "resume")
    assert (resumed.state, resumed.stage, resumed.paused_in) == (paused_in, stage, None)
    assert [name for name, _ in runs.jobs_of(brand)] == [job]


def test_key_of_one_switch_does_not_open_as_that_of_another(brand, rival, server):
    switch, theirs = runs.connect(brand), runs.connect(rival)
    with pytest.raises(sealing.CannotUnseal):
        credentials.unseal(switch.credentials_sealed, theirs.id)


def test_mapping_may_change_while_the_account_is_read(brand, server):
    switch = runs.read(brand, runs.start(brand), max_pages=2)
    changed = runs.change(brand, switch, options={"codes": False})

    assert (changed.state, changed.stage) == (switch.state, switch.stage)
    assert len(runs.jobs_of(brand)) == 1
