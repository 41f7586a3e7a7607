"""Texts that leave the rails are short, on one line, and without accounts and keys."""

import traceback

import pytest
import structlog

from adapters.rails import base
from domain.payouts.transfers import Rejected, Unknown
from tests.adapters.rails import fake_processor, rail_setups


def test_message_is_one_short_line_without_the_account(service):
    transfer = rail_setups.over_http(service, "Wallet").transfer()

    message = base.clean_message(f"a\r\n\x00b {transfer.destination.account.upper()}" + "x" * 999, transfer)

    assert message.startswith("a b B...@e...xxx")
    assert len(message) == 300


@pytest.mark.parametrize(
    ("raw_code", "code"),
    [("A_b-C d", "a_b_c_d"), ("", "other"), (None, "other"), (7, "other"), ("ÄÖ", "other"), ("x" * 99, "x" * 64)],
)
def test_code_is_normalized(raw_code, code):
    assert base.code(raw_code, "other") == code


def test_books_name_depends_on_the_account_and_hides_secrets():
    names = [base.books("https://rail.test", *account) for account in (("key", "a"), ("key", "b"), ("keya", ""))]

    assert len({*names, base.books("https://other.test", "key", "a")}) == 4
    assert "key" not in "".join(names)


@pytest.mark.parametrize("fault", ["reject", "500_after", "hang_before", "403", "html_400", "say []"])
def test_logs_and_errors_contain_no_account_or_secret(external_setup, fault, monkeypatch):
    # At a level of its own: an application in this process may have silenced warnings.
    captured = structlog.testing.LogCapture()
    everything = structlog.make_filtering_bound_logger(0)
    monkeypatch.setattr(base, "_log", structlog.wrap_logger(None, processors=[captured], wrapper_class=everything))
    external_setup.misbehave(fault)
    transfer = external_setup.transfer()
    secrets = [
        transfer.destination.account,
        fake_processor.KEY,
        fake_processor.CLIENT_SECRET,
        fake_processor.TOKEN,
        fake_processor.WEBHOOK_SECRET,
    ]

    try:
        answer = external_setup.rail.send(transfer)
    except base.RailMisconfigured as error:
        answer = "".join(traceback.format_exception(error))

    text = f"{captured.entries} {answer} {transfer}"
    assert [secret for secret in secrets if secret in text] == []
    if isinstance(answer, Unknown):
        assert [(line["event"], line["rail"], line["key"]) for line in captured.entries] == [
            ("rail.unknown", external_setup.method, transfer.key)
        ]
    if fault == "reject":
        assert isinstance(answer, Rejected)
