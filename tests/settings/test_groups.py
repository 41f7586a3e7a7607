"""Settings that are set together or not at all."""

import pytest

import settings
from settings import BadSetting
from settings.concerns.human_check import LOCAL
from settings.concerns.rails import GlobalPayouts, Processor, Wallet


def test_human_check_is_local_or_service_with_secret():
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


def test_copilot_needs_endpoint_and_model():
    endpoint = {"COPILOT_URL": "https://models.example.com/v1/", "COPILOT_MODEL": "m"}
    copilot = settings.read(endpoint | {"COPILOT_KEY": "sesame"}).copilot

    assert (copilot.url, copilot.model, copilot.key) == ("https://models.example.com/v1", "m", "sesame")
    assert "sesame" not in str(copilot)
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
        with pytest.raises(BadSetting, match="COPILOT_") as error:
            settings.read(wrong)
        assert "secret" not in str(error.value)


_RAILS = {
    "PAYOUT_RAIL_PROCESSOR_KEY": "s3cret",
    "PAYOUT_RAIL_WALLET_CLIENT_ID": "c",
    "PAYOUT_RAIL_WALLET_SECRET": "s3cret",
    "PAYOUT_RAIL_GLOBAL_KEY": "s3cret",
    "PAYOUT_RAIL_GLOBAL_FINANCIAL_ACCOUNT": "fa_1",
}


def test_rail_needs_only_credentials_and_hides_secrets():
    rails = settings.read(_RAILS).rails

    assert rails.processor == Processor(key="s3cret", url="https://api.stripe.com")
    assert rails.wallet == Wallet(client_id="c", secret="s3cret", url="https://api-m.paypal.com")
    assert rails.global_payouts == GlobalPayouts(key="s3cret", financial_account="fa_1", url="https://api.stripe.com")
    assert "s3cret" not in repr(rails)


def test_rail_takes_address_and_webhook_secret():
    options = {
        "PAYOUT_RAIL_PROCESSOR_URL": "http://127.0.0.1:12111/",
        "PAYOUT_RAIL_PROCESSOR_WEBHOOK_SECRET": "whsec_1",
        "PAYOUT_RAIL_WALLET_URL": "https://api-m.sandbox.paypal.com",
        "PAYOUT_RAIL_WALLET_WEBHOOK_ID": "W1",
        "PAYOUT_RAIL_GLOBAL_URL": "http://localhost:1",
        "PAYOUT_RAIL_GLOBAL_WEBHOOK_SECRET": "whsec_2",
    }

    rails = settings.read(_RAILS | options).rails

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
def test_incomplete_rail_raises_error_with_missing_variable(given, missing):
    with pytest.raises(BadSetting, match=f"^{given} is set without {missing}; ") as error:
        settings.read({given: "s3cret"})

    assert "s3cret" not in str(error.value)


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
def test_unsafe_rail_address_raises_error_without_secret(rail, url):
    name = f"PAYOUT_RAIL_{rail}_URL"

    with pytest.raises(BadSetting, match=f"^{name} cannot be used; it must be https://api") as error:
        settings.read(_RAILS | {name: url})

    assert "s3cret" not in str(error.value)
