"""Every operator list of an unused system prints a hint, and is empty as JSON."""

import pytest

_LISTS = {
    "org list": "There is no organization yet: flask org create --name NAME --owner-email EMAIL",
    "program list": "There is no program yet.",
    "jobs dead": "No dead letters.",
    "ledger status": "Nothing was checked yet: flask ledger check",
    "payout runs": "There is no payout run yet: an Owner starts one (POST /api/v1/payouts/run).",
    "payout list": "There is no payout. There is no payout run yet: an Owner starts one (POST /api/v1/payouts/run).",
    "payout events": "No rail has posted an event yet.",
    "payout runs --waiting": "There is no such run.",
    "payout events --open": "No event is open.",
    "webhook endpoints": "There is no endpoint yet.",
    "connection list": "No gateway is connected yet.",
    "platform list": "No platform is connected yet.",
    "mail outbox": "No messages.",
    "fx list": "There is no rate yet: flask fx load FILE",
}


@pytest.mark.parametrize("command", _LISTS)
def test_empty_list_prints_a_hint(flask, isolated_database, command):
    assert flask(*command.split()) == (0, _LISTS[command] + "\n")
    assert flask.json(*command.split()) == []
