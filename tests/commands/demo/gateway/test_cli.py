"""`flask demo-gateway` that cannot do what is asked says what to do next."""

import pytest

import settings
from commands.demo import loopback
from tests.support.settings_overrides import override_settings


@pytest.mark.parametrize("words", [(), ("pay",), ("renew",), ("refund",)], ids=" ".join)
def test_outside_of_the_demo_nothing_is_played(demo, monkeypatch, words):
    code, said = demo.flask("demo-gateway", *words)
    assert (code, said) == (
        1,
        f"Error: There is no demo gateway in {settings.current().servers.data_dir}. Next: make run\n",
    )

    override_settings(monkeypatch, addresses={"apis": {"stripe": "https://api.stripe.com"}})
    code, said = demo.flask("demo-gateway", *words)
    assert (code, said.startswith("Error: API_ADDRESSES has another address for stripe")) == (1, True)

    override_settings(monkeypatch, servers={"database_url": "postgresql://x"})
    code, said = demo.flask("demo-gateway", *words)
    assert (code, said.startswith("Error: The demo's gateway runs only")) == (1, True)
    assert not (settings.current().servers.data_dir / "gateway").exists()


def test_where_nobody_plays_it_says_how_to(demo):
    demo.make()
    address, port = loopback.gateway_address(settings.current())

    code, said = demo.flask("demo-gateway", "pay")

    assert code == 1
    assert said.startswith(f"Error: No gateway is running on {address}:{port} (")
    assert said.endswith("Next: make run\n")


def test_there_is_nothing_to_renew_or_refund_before_a_payment(made):
    nothing_yet = "There is no subscription yet."
    for act, nothing in (("renew", nothing_yet), ("refer", nothing_yet), ("refund", "Nothing was paid yet.")):
        code, said = made.flask("demo-gateway", act)
        assert code == 1
        assert said.startswith(f"Error: {nothing} Next: DATA_DIR=")
        assert said.endswith(".venv/bin/flask demo-gateway pay\n")


def test_what_cannot_be_given_back_is_said_and_changes_nothing(made):
    charge = made.json("demo-gateway", "pay")["charge"]
    made.json("demo-gateway", "refund", "--cents", "1000")

    for words, why in (
        ((charge, "--cents", "3901"), "The refund of 3901 is greater than the rest of the charge (3900)."),
        (("ch_none",), "No such charge."),
    ):
        code, said = made.flask("demo-gateway", "refund", *words)
        assert (code, said) == (1, f"Error: The gateway refused: {why} Next: flask demo-gateway refund --help\n")
    assert made.json("demo-gateway", "refund", charge)["amountCents"] == 3_900
    code, said = made.flask("demo-gateway", "refund", charge)
    assert code == 1
    assert said.startswith("Error: The gateway refused: The charge has been refunded already. Next: ")


def test_a_code_that_is_not_in_force_is_said_and_nothing_is_paid(made):
    for code in ("NONE", "none at all", ""):
        status, said = made.flask("demo-gateway", "pay", "--code", code)
        assert (status, said.startswith(f"Error: The gateway has no active promotion code {code}. Next: ")) == (
            1,
            True,
        )
    assert made.flask("demo-gateway", "refund")[1].startswith("Error: Nothing was paid yet.")


def test_an_amount_is_whole_and_positive(made):
    for cents in ("0", "-1", "100000000", "1.5", "ten"):
        for act in ("pay", "refund"):
            code, said = made.flask("demo-gateway", act, "--cents", cents)
            assert code == 2
            assert "Usage: " in said


def test_a_subscription_that_is_not_there_is_said(made):
    for unknown in ("sub_none", "../account", "a b"):
        code, said = made.flask("demo-gateway", "renew", unknown)
        assert code == 1
        assert said.startswith("Error: The gateway refused: No such object")
