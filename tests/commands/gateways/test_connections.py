"""`flask connection`: lists, checks and reconciliation of gateway connections."""

import re

import pytest

from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.gateways.stage import Purchase

UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"


@pytest.fixture
def gateway():
    with play_gateway() as simulated:
        yield simulated


@pytest.fixture
def connection(brand, gateway):
    """Return a connection of a brand with the affiliate jane."""
    brand.program()
    brand.affiliate("jane")
    return connect_gateway(brand.person("Owner"), gateway)


def _post_events(brand, connection, *requests):
    for request in requests:
        path = "/" + connection["webhookUrl"].split("/", 3)[3]
        assert brand.app.test_client().post(path, data=request.body, headers=dict(request.headers)).status_code == 200


def test_connections_are_listed_with_event_counts_and_no_secret(flask, brand, gateway, connection, drain):
    _post_events(brand, connection, gateway.create_malformed_event(), *gateway.refund(gateway.pay(Purchase()), 100))
    drain("gateways")
    (row,) = flask.json("connection", "list", "--org", brand.id)
    code, output = flask("connection", "list", "--org", brand.id)

    assert (row["id"], row["status"]) == (connection["id"], "Active")
    assert (row["waiting"], row["parked"], row["failed"]) == (0, 1, 1)
    assert code == 0
    assert re.search(rf"^{connection['id']} +Brand +stripe +live +Active .* 0 +1 +1 *$", output, re.M)
    assert connection["webhookUrl"].rpartition("/")[2] not in output
    assert [item["id"] for item in flask.json("connection", "list", "--troubled", "--limit", "10000")].count(
        connection["id"]
    )
    assert flask("connection", "list", "--org", UNKNOWN_ID) == (0, "There is no such connection.\n")


def test_check_reports_the_gateways_response_and_sets_the_exit_status(flask, gateway, connection):
    assert flask.json("connection", "check", connection["id"])["refusal"] is None
    gateway.faults.append("refuse")
    code, output = flask("connection", "check", connection["id"])
    assert (code, "stripe refuses the credentials: Invalid credentials." in output) == (1, True)
    gateway.faults.append("refuse")
    assert flask.json("connection", "check", connection["id"], code=1)["refusal"] == "Invalid credentials."
    gateway.faults.append("fail")
    code, output = flask("connection", "check", connection["id"])
    assert (code, "cannot be reached" in output) == (1, True)
    assert flask("connection", "check", connection["id"])[0] == 0


def test_reconcile_reports_progress_and_stores_missed_events(flask, brand, gateway, connection, drain):
    sale = gateway.pay(Purchase())
    code, output = flask("connection", "reconcile", connection["id"], "--since", "1d")
    assert (code, "2 listed, 2 new" in output) == (0, True)
    drain()
    assert brand.rows("select external_event_id from conversion") == [(sale.id,)]

    again = flask.json("connection", "reconcile", connection["id"], "--since", "1d")
    assert (again["new"], again["error"]) == (0, None)
    assert (
        brand.rows("select actor_type from audit_entry where action = 'connection.reconciled'") == [("operator",)] * 2
    )


def test_incomplete_list_is_reported_and_exits_with_1(flask, gateway, connection):
    gateway.faults.append("fail")
    code, output = flask("connection", "reconcile", connection["id"])
    assert (code, "stripe ended the list early: it answers 500" in output) == (1, True)


def test_events_are_filtered_by_status(flask, brand, gateway, connection, drain):
    assert flask("connection", "events", connection["id"]) == (0, "No events yet.\n")
    _post_events(brand, connection, gateway.create_malformed_event(), gateway.create_unknown_event())
    drain("gateways")
    (failed,) = flask.json("connection", "events", connection["id"], "--status", "Failed")
    code, output = flask("connection", "events", connection["id"])
    assert (failed["type"], failed["error"]) == ("invoice.paid", "an amount is not an integer")
    assert (code, output.count("invoice.paid"), output.count("unknown_type")) == (0, 1, 1)
    assert flask("connection", "events", connection["id"], "--status", "Parked") == (0, "There is no such event.\n")


@pytest.mark.parametrize("words", [("check",), ("reconcile",), ("events",)])
def test_unknown_connection_is_reported(flask, words):
    code, output = flask("connection", *words, UNKNOWN_ID)
    assert (code, f"There is no connection {UNKNOWN_ID}." in output) == (1, True)


def test_ended_connection_cannot_be_checked_or_reconciled(flask, brand, connection):
    brand.person("Owner").call("DELETE", f"/api/v1/connections/{connection['id']}")
    for verb in ("check", "reconcile"):
        code, output = flask("connection", verb, connection["id"])
        assert (code, "has ended" in output) == (1, True)
    assert flask("connection", "events", connection["id"])[0] == 0


def test_catalogue_lists_the_features_of_each_gateway(flask):
    stripe = next(row for row in flask.json("connection", "gateways") if "(stripe)" in row["gateway"])
    assert stripe["credentials"] == "apiKey, webhookSecret?"
    assert (stripe["coupons"], stripe["refunds"]) == ("yes", "reported")
