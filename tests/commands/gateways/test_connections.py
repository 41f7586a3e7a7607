"""`flask connection`: what an operator sees of connections, and how they fetch what was missed."""

import re

import pytest

from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.gateways.stage import Purchase

NOBODY = "01890000-0000-7000-8000-000000000000"


@pytest.fixture
def stage():
    with play_gateway() as playing:
        yield playing


@pytest.fixture
def made(brand, stage):
    """A connection whose brand has an affiliate, jane."""
    brand.program()
    brand.affiliate("jane")
    return connect_gateway(brand.person("Owner"), stage)


def _post(brand, made, *sent):
    for one in sent:
        path = "/" + made["webhookUrl"].split("/", 3)[3]
        assert brand.app.test_client().post(path, data=one.body, headers=dict(one.headers)).status_code == 200


def test_connections_are_listed_with_what_waits_and_no_secret(flask, brand, stage, made, drain):
    _post(brand, made, stage.create_malformed_event(), *stage.refund(stage.pay(Purchase()), 100))
    drain("gateways")
    (listed,) = flask.json("connection", "list", "--org", brand.id)
    code, said = flask("connection", "list", "--org", brand.id)

    assert (listed["id"], listed["status"]) == (made["id"], "Active")
    assert (listed["waiting"], listed["parked"], listed["failed"]) == (0, 1, 1)
    assert code == 0
    assert re.search(rf"^{made['id']} +Brand +stripe +live +Active .* 0 +1 +1 *$", said, re.M)
    assert made["webhookUrl"].rpartition("/")[2] not in said
    assert [one["id"] for one in flask.json("connection", "list", "--troubled", "--limit", "10000")].count(made["id"])
    assert flask("connection", "list", "--org", NOBODY) == (0, "There is no such connection.\n")


def test_a_check_says_what_the_gateway_said_by_its_exit_status_too(flask, stage, made):
    assert flask.json("connection", "check", made["id"])["refusal"] is None
    stage.faults.append("refuse")
    code, said = flask("connection", "check", made["id"])
    assert (code, "stripe refuses the credentials: Invalid credentials." in said) == (1, True)
    stage.faults.append("refuse")
    assert flask.json("connection", "check", made["id"], code=1)["refusal"] == "Invalid credentials."
    stage.faults.append("fail")
    code, said = flask("connection", "check", made["id"])
    assert (code, "cannot be reached" in said) == (1, True)
    assert flask("connection", "check", made["id"])[0] == 0


def test_reconcile_tells_its_progress_and_takes_in_what_was_missed(flask, brand, stage, made, drain):
    sale = stage.pay(Purchase())
    code, said = flask("connection", "reconcile", made["id"], "--since", "1d")
    assert (code, "2 listed, 2 new" in said) == (0, True)
    drain()
    assert brand.rows("select external_event_id from conversion") == [(sale.id,)]

    again = flask.json("connection", "reconcile", made["id"], "--since", "1d")
    assert (again["new"], again["error"]) == (0, None)
    assert (
        brand.rows("select actor_type from audit_entry where action = 'connection.reconciled'") == [("operator",)] * 2
    )


def test_a_list_that_ends_early_is_said_and_exits_with_1(flask, stage, made):
    stage.faults.append("fail")
    code, said = flask("connection", "reconcile", made["id"])
    assert (code, "stripe ended the list early: it answers 500" in said) == (1, True)


def test_events_are_narrowed_by_status(flask, brand, stage, made, drain):
    assert flask("connection", "events", made["id"]) == (0, "No events yet.\n")
    _post(brand, made, stage.create_malformed_event(), stage.create_unknown_event())
    drain("gateways")
    (failed,) = flask.json("connection", "events", made["id"], "--status", "Failed")
    code, said = flask("connection", "events", made["id"])
    assert (failed["type"], failed["error"]) == ("invoice.paid", "an amount is not an integer")
    assert (code, said.count("invoice.paid"), said.count("unknown_type")) == (0, 1, 1)
    assert flask("connection", "events", made["id"], "--status", "Parked") == (0, "There is no such event.\n")


@pytest.mark.parametrize("words", [("check",), ("reconcile",), ("events",)])
def test_a_connection_that_is_not_there_is_said(flask, words):
    code, said = flask("connection", *words, NOBODY)
    assert (code, f"There is no connection {NOBODY}." in said) == (1, True)


def test_a_connection_that_ended_is_neither_checked_nor_reconciled(flask, brand, made):
    brand.person("Owner").call("DELETE", f"/api/v1/connections/{made['id']}")
    for verb in ("check", "reconcile"):
        code, said = flask("connection", verb, made["id"])
        assert (code, "has ended" in said) == (1, True)
    assert flask("connection", "events", made["id"])[0] == 0


def test_the_catalogue_says_what_each_gateway_can(flask):
    stripe = next(row for row in flask.json("connection", "gateways") if "(stripe)" in row["gateway"])
    assert (stripe["credentials"], stripe["coupons"], stripe["refunds"]) == ("apiKey, webhookSecret?", "yes", "told")
