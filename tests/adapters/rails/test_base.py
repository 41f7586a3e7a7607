"""What leaves the rails in words: short, in one line, and without accounts and keys."""

import traceback

import pytest
import structlog

from adapters.rails import base
from domain.payouts.transfers import Rejected, Unknown
from tests.adapters.rails import fake_processor, places


def test_their_words_are_one_short_line_without_the_account(service):
    transfer = places.over_http(service, "Wallet").transfer()

    said = base.clean_message(f"a\r\n\x00b {transfer.destination.account.upper()}" + "x" * 999, transfer)

    assert said.startswith("a b B...@e...xxx")
    assert len(said) == 300


@pytest.mark.parametrize(
    ("said", "code"),
    [("A_b-C d", "a_b_c_d"), ("", "other"), (None, "other"), (7, "other"), ("ÄÖ", "other"), ("x" * 99, "x" * 64)],
)
def test_their_codes_are_written_in_our_letters(said, code):
    assert base.code(said, "other") == code


def test_the_books_of_a_rail_change_with_its_account_and_tell_no_secret():
    names = [base.books("https://rail.test", *account) for account in (("key", "a"), ("key", "b"), ("keya", ""))]

    assert len({*names, base.books("https://other.test", "key", "a")}) == 4
    assert "key" not in "".join(names)


@pytest.mark.parametrize("fault", ["reject", "500_after", "hang_before", "403", "html_400", "say []"])
def test_no_log_and_no_error_holds_an_account_or_a_secret(outside, fault, monkeypatch):
    # At a level of its own: an application in this process may have silenced warnings.
    heard = structlog.testing.LogCapture()
    everything = structlog.make_filtering_bound_logger(0)
    monkeypatch.setattr(base, "_log", structlog.wrap_logger(None, processors=[heard], wrapper_class=everything))
    outside.misbehave(fault)
    transfer = outside.transfer()
    secrets = [
        transfer.destination.account,
        fake_processor.KEY,
        fake_processor.CLIENT_SECRET,
        fake_processor.TOKEN,
        fake_processor.WEBHOOK_SECRET,
    ]

    try:
        answer = outside.rail.send(transfer)
    except base.RailMisconfigured as error:
        answer = "".join(traceback.format_exception(error))

    text = f"{heard.entries} {answer} {transfer}"
    assert [secret for secret in secrets if secret in text] == []
    if isinstance(answer, Unknown):
        assert [(line["event"], line["rail"], line["key"]) for line in heard.entries] == [
            ("rail.unknown", outside.method, transfer.key)
        ]
    if fault == "reject":
        assert isinstance(answer, Rejected)
