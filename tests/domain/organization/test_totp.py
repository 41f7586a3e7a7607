"""Time-based one-time passwords. Source: RFC 6238, appendix B (the last six digits of its eight)."""

import base64
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from domain.organization import totp

_SECRET = base64.b32encode(b"12345678901234567890").decode()


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (59, "287082"),
        (1_111_111_109, "081804"),
        (1_111_111_111, "050471"),
        (1_234_567_890, "005924"),
        (2_000_000_000, "279037"),
        (20_000_000_000, "353130"),
    ],
)
def test_code_equals_the_vector_of_the_rfc(seconds, code):
    assert totp.code_of(_SECRET, seconds // totp.STEP_S) == code


@pytest.mark.parametrize(("skew", "is_accepted"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_code_of_the_neighbouring_step_is_accepted(skew, is_accepted):
    now = datetime(2026, 11, 28, 12, tzinfo=UTC)
    code = totp.code_of(_SECRET, totp.step_at(now + timedelta(seconds=skew * totp.STEP_S)))

    assert (totp.matching_step(_SECRET, code, now=now, last_step=0) is not None) == is_accepted


def test_used_step_and_earlier_ones_are_refused():
    now = datetime(2026, 11, 28, 12, tzinfo=UTC)
    step = totp.step_at(now)

    for used in (step - 1, step):
        assert totp.matching_step(_SECRET, totp.code_of(_SECRET, used), now=now, last_step=step) is None
    assert totp.matching_step(_SECRET, totp.code_of(_SECRET, step + 1), now=now, last_step=step) == step + 1


@pytest.mark.parametrize("typed", ["", "x", "12345", "1234567", "٢٨٧٠٨٢", "\ud800", "é" * 1000])
def test_odd_codes_are_refused(typed):
    now = datetime.fromtimestamp(59, UTC)

    assert totp.matching_step(_SECRET, totp.normalize_code(typed), now=now, last_step=0) is None


def test_uri_names_issuer_account_and_secret():
    uri = totp.provisioning_uri(_SECRET, account="ada+x@acme.example", issuer="Finderfee")

    parts = urlsplit(uri)
    assert (parts.scheme, parts.netloc, unquote(parts.path)) == ("otpauth", "totp", "/Finderfee:ada+x@acme.example")
    assert parse_qs(parts.query) == {"secret": [_SECRET], "issuer": ["Finderfee"]}


def test_recovery_codes_are_distinct_and_typed_in_any_form():
    codes = totp.create_recovery_codes()

    assert len(set(codes)) == totp.RECOVERY_CODES == 10
    assert totp.normalize_code(f" {codes[0].upper().replace('-', ' ')} ") == codes[0].replace("-", "")
    assert all(totp.is_recovery_code(totp.normalize_code(code)) for code in codes)
