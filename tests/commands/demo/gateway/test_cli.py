"""`flask demo-gateway` refuses what it cannot do and prints the next step."""

import pytest

import settings
from commands.demo import loopback
from tests.support.settings_overrides import override_settings


@pytest.mark.parametrize("words", [(), ("pay",), ("renew",), ("refund",)], ids=" ".join)
def test_commands_are_refused_outside_the_demo(demo, monkeypatch, words):
    code, output = demo.flask("demo-gateway", *words)
    assert (code, output) == (
        1,
        f"Error: There is no demo gateway in {settings.current().servers.data_dir}. Next: make run\n",
    )

    override_settings(monkeypatch, addresses={"apis": {"stripe": "https://api.stripe.com"}})
    code, output = demo.flask("demo-gateway", *words)
    assert (code, output.startswith("Error: API_ADDRESSES has another address for stripe")) == (1, True)

    override_settings(monkeypatch, servers={"database_url": "postgresql://x"})
    code, output = demo.flask("demo-gateway", *words)
    assert (code, output.startswith("Error: The demo's gateway runs only")) == (1, True)
    assert not (settings.current().servers.data_dir / "gateway").exists()


def test_stopped_gateway_is_reported_with_the_next_step(demo):
    demo.create()
    address, port = loopback.gateway_address(settings.current())

    code, output = demo.flask("demo-gateway", "pay")

    assert code == 1
    assert output.startswith(f"Error: No gateway is running on {address}:{port} (")
    assert output.endswith("Next: make run\n")


def test_renew_refer_and_refund_before_a_payment_are_refused(running_demo):
    no_subscription = "There is no subscription yet."
    for command, message in (
        ("renew", no_subscription),
        ("refer", no_subscription),
        ("refund", "Nothing was paid yet."),
    ):
        code, output = running_demo.flask("demo-gateway", command)
        assert code == 1
        assert output.startswith(f"Error: {message} Next: DATA_DIR=")
        assert output.endswith(".venv/bin/flask demo-gateway pay\n")


def test_impossible_refund_is_refused_and_changes_nothing(running_demo):
    charge = running_demo.json("demo-gateway", "pay")["charge"]
    running_demo.json("demo-gateway", "refund", "--cents", "1000")

    for words, reason in (
        ((charge, "--cents", "3901"), "The refund of 3901 is greater than the rest of the charge (3900)."),
        (("ch_none",), "No such charge."),
    ):
        code, output = running_demo.flask("demo-gateway", "refund", *words)
        assert (code, output) == (1, f"Error: The gateway refused: {reason} Next: flask demo-gateway refund --help\n")
    assert running_demo.json("demo-gateway", "refund", charge)["amountCents"] == 3_900
    code, output = running_demo.flask("demo-gateway", "refund", charge)
    assert code == 1
    assert output.startswith("Error: The gateway refused: The charge has been refunded already. Next: ")


def test_inactive_code_is_refused_and_nothing_is_paid(running_demo):
    for code in ("NONE", "none at all", ""):
        status, output = running_demo.flask("demo-gateway", "pay", "--code", code)
        assert (status, output.startswith(f"Error: The gateway has no active promotion code {code}. Next: ")) == (
            1,
            True,
        )
    assert running_demo.flask("demo-gateway", "refund")[1].startswith("Error: Nothing was paid yet.")


def test_amount_must_be_a_positive_integer(running_demo):
    for cents in ("0", "-1", "100000000", "1.5", "ten"):
        for command in ("pay", "refund"):
            code, output = running_demo.flask("demo-gateway", command, "--cents", cents)
            assert code == 2
            assert "Usage: " in output


def test_unknown_subscription_is_refused(running_demo):
    for unknown in ("sub_none", "../account", "a b"):
        code, output = running_demo.flask("demo-gateway", "renew", unknown)
        assert code == 1
        assert output.startswith("Error: The gateway refused: No such object")
