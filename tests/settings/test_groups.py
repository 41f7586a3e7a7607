"""Settings that are set together or not at all."""

import pytest

import settings
from settings import BadSetting
from settings.concerns.human_check import LOCAL
from settings.concerns.rails import GlobalPayouts, Processor, Wallet


def test_a_human_check_is_a_service_with_its_secret_or_local():
    service = {"HUMAN_CHECK_URL": "https://human.example.com/verify", "HUMAN_CHECK_SECRET": "s"}
    widget = {"HUMAN_CHECK_SCRIPT_URL": "https://human.example.com/api.js", "HUMAN_CHECK_SITE_KEY": "k"}

    assert settings.read({"HUMAN_CHECK_URL": "local"}).human_check.url == LOCAL
    assert settings.read(service | widget).human_check.site_key == "k"
    for wrong in (
        {"HUMAN_CHECK_URL": service["HUMAN_CHECK_URL"]},
        {"HUMAN_CHECK_SECRET": "s"},
        {"HUMAN_CHECK_URL": "local", "HUMAN_CHECK_SECRET": "s"},
        {"HUMAN_CHECK_URL": "nowhere", "HUMAN_CHECK_SECRET": "s"},
        service | {"HUMAN_CHECK_SITE_KEY": "k"},
        service | {"HUMAN_CHECK_SCRIPT_URL": widget["HUMAN_CHECK_SCRIPT_URL"]},
        {"HUMAN_CHECK_URL": "local"} | widget,
    ):
        with pytest.raises(BadSetting, match="HUMAN_CHECK_"):
            settings.read(wrong)


def test_a_copilot_is_an_endpoint_with_its_model():
    endpoint = {"COPILOT_URL": "https://models.example.com/v1/", "COPILOT_MODEL": "m"}
    read = settings.read(endpoint | {"COPILOT_KEY": "sesame"}).copilot

    assert (read.url, read.model, read.key) == ("https://models.example.com/v1", "m", "sesame")
    assert "sesame" not in str(read)
    assert settings.read(endpoint | {"COPILOT_URL": "http://127.0.0.1:11434/v1"}).copilot.url
    for wrong in (
        {"COPILOT_URL": endpoint["COPILOT_URL"]},
        {"COPILOT_MODEL": "m"},
        *(
            endpoint | {"COPILOT_URL": url}
            for url in (
                "http://models.example.com/v1",
                "http://10.0.0.1/v1",
                "ftp://models.example.com",
                "https://user:secret@models.example.com/v1",
                "https://models.example.com/v1?key=secret",
                "https://models.example.com/v1#x",
                "models.example.com",
            )
        ),
    ):
        with pytest.raises(BadSetting, match="COPILOT_") as refused:
            settings.read(wrong)
        assert "secret" not in str(refused.value)


_RAILS = {
    "PAYOUT_RAIL_PROCESSOR_KEY": "s3cret",
    "PAYOUT_RAIL_WALLET_CLIENT_ID": "c",
    "PAYOUT_RAIL_WALLET_SECRET": "s3cret",
    "PAYOUT_RAIL_GLOBAL_KEY": "s3cret",
    "PAYOUT_RAIL_GLOBAL_FINANCIAL_ACCOUNT": "fa_1",
}


def test_a_rail_needs_its_credentials_alone_and_shows_no_secret():
    rails = settings.read(_RAILS).rails

    assert rails.processor == Processor(key="s3cret", url="https://api.stripe.com")
    assert rails.wallet == Wallet(client_id="c", secret="s3cret", url="https://api-m.paypal.com")
    assert rails.global_payouts == GlobalPayouts(key="s3cret", financial_account="fa_1", url="https://api.stripe.com")
    assert "s3cret" not in repr(rails)


def test_a_rail_may_be_elsewhere_and_tell_us_by_itself():
    more = {
        "PAYOUT_RAIL_PROCESSOR_URL": "http://127.0.0.1:12111/",
        "PAYOUT_RAIL_PROCESSOR_WEBHOOK_SECRET": "whsec_1",
        "PAYOUT_RAIL_WALLET_URL": "https://api-m.sandbox.paypal.com",
        "PAYOUT_RAIL_WALLET_WEBHOOK_ID": "W1",
        "PAYOUT_RAIL_GLOBAL_URL": "http://localhost:1",
        "PAYOUT_RAIL_GLOBAL_WEBHOOK_SECRET": "whsec_2",
    }

    rails = settings.read(_RAILS | more).rails

    assert rails.processor == Processor("s3cret", "whsec_1", "http://127.0.0.1:12111")
    assert rails.wallet == Wallet("c", "s3cret", "W1", "https://api-m.sandbox.paypal.com")
    assert rails.global_payouts == GlobalPayouts("s3cret", "fa_1", "whsec_2", "http://localhost:1")


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ("PAYOUT_RAIL_PROCESSOR_URL", "PAYOUT_RAIL_PROCESSOR_KEY"),
        ("PAYOUT_RAIL_PROCESSOR_WEBHOOK_SECRET", "PAYOUT_RAIL_PROCESSOR_KEY"),
        ("PAYOUT_RAIL_WALLET_CLIENT_ID", "PAYOUT_RAIL_WALLET_SECRET"),
        ("PAYOUT_RAIL_WALLET_SECRET", "PAYOUT_RAIL_WALLET_CLIENT_ID"),
        ("PAYOUT_RAIL_WALLET_WEBHOOK_ID", "PAYOUT_RAIL_WALLET_CLIENT_ID"),
        ("PAYOUT_RAIL_GLOBAL_KEY", "PAYOUT_RAIL_GLOBAL_FINANCIAL_ACCOUNT"),
        ("PAYOUT_RAIL_GLOBAL_FINANCIAL_ACCOUNT", "PAYOUT_RAIL_GLOBAL_KEY"),
    ],
)
def test_a_part_of_a_rail_is_refused_with_what_is_missing(given, missing):
    with pytest.raises(BadSetting, match=f"^{given} is set without {missing}; ") as refused:
        settings.read({given: "s3cret"})

    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://api.example.com",
        "https://u:s3cret@api.example.com",
        "https://api.example.com/s3cret",
        "https://api.example.com?s3cret",
        "https://",
        "https://api.example.com:x",
        "s3cret",
    ],
)
@pytest.mark.parametrize("rail", ["PROCESSOR", "WALLET", "GLOBAL"])
def test_credentials_go_nowhere_but_to_https_or_this_machine(rail, url):
    name = f"PAYOUT_RAIL_{rail}_URL"

    with pytest.raises(BadSetting, match=f"^{name} cannot be used; it must be https://api") as refused:
        settings.read(_RAILS | {name: url})

    assert "s3cret" not in str(refused.value)
