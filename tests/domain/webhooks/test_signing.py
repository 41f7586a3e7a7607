"""Signatures cover the time and the raw body with a secret."""

import pytest

from domain.webhooks import signing

SECRET = b"whsec_test"
BODY = b'{"externalEventId":"order_1","amountCents":4900}'
SENT_AT_S = 1_770_000_000
DIGEST = "ea183335584735f939866abab1b2c77f83da5ec6b07518151e114869f9fda5f9"
HEADER = f"t=1770000000,sig={DIGEST}"


def is_verified(header: str, *, secret: bytes = SECRET, body: bytes = BODY, now_s: int = SENT_AT_S) -> bool:
    return signing.verify_inbound(header=header, secret=secret, body=body, now_s=now_s)


def test_signature_is_the_hmac_of_time_dot_body() -> None:
    assert signing.sign(secret=SECRET, timestamp_s=SENT_AT_S, body=BODY) == DIGEST


def test_signature_of_non_text_bytes_is_computed() -> None:
    digest = signing.sign(secret=b"\x00\xff", timestamp_s=0, body=b"\xff\x00")

    assert digest == "c97a4a24e01bbcc154fcdee66d7a93edcab95ae5e854a761f6d4258b10f0ac90"


def test_outbound_header_has_the_v1_tag() -> None:
    header = signing.outbound_header(secret=SECRET, timestamp_s=SENT_AT_S, body=BODY)

    assert header == f"t=1770000000,v1={DIGEST}"


def test_well_formed_header_is_parsed() -> None:
    parsed = signing.parse_inbound("t=1770000000,sig=" + "0a" * 32)

    assert parsed == signing.InboundSignature(timestamp_s=1_770_000_000, digest=b"\n" * 32)


@pytest.mark.parametrize("timestamp", ["0", "1", "999999999999"])
def test_time_may_have_up_to_twelve_digits(timestamp: str) -> None:
    parsed = signing.parse_inbound(f"t={timestamp},sig={DIGEST}")

    assert parsed is not None
    assert parsed.timestamp_s == int(timestamp)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "t=1770000000",
        f"sig={DIGEST}",
        f"sig={DIGEST},t=1770000000",
        f"t=,sig={DIGEST}",
        f"t=1770000000000,sig={DIGEST}",
        f"t=-1,sig={DIGEST}",
        f"t=+1,sig={DIGEST}",
        f"t=1.0,sig={DIGEST}",
        f"t=1_0,sig={DIGEST}",
        f"t=\u0661,sig={DIGEST}",
        f"t=1770000000, sig={DIGEST}",
        f" t=1770000000,sig={DIGEST}",
        f"t=1770000000,sig={DIGEST}\n",
        f"t=1770000000,sig={DIGEST},",
        f"t=1770000000,v1={DIGEST}",
        f"t=1770000000,sig={DIGEST},sig={DIGEST}",
        f"t=1770000000,t=1770000000,sig={DIGEST}",
        f"T=1770000000,sig={DIGEST}",
        f"t=1770000000,sig={DIGEST.upper()}",
        f"t=1770000000,sig={DIGEST[:-1]}",
        f"t=1770000000,sig={DIGEST}0",
        f"t=1770000000,sig={DIGEST[:-1]}g",
    ],
)
def test_any_other_header_is_malformed(header: str) -> None:
    assert signing.parse_inbound(header) is None


def test_valid_signature_is_verified() -> None:
    assert is_verified(HEADER)


@pytest.mark.parametrize("skew_s", [-300, -299, 0, 299, 300])
def test_time_within_300_seconds_either_side_is_accepted(skew_s: int) -> None:
    assert is_verified(HEADER, now_s=SENT_AT_S + skew_s)


@pytest.mark.parametrize("skew_s", [-301, 301])
def test_time_more_than_300_seconds_away_is_refused(skew_s: int) -> None:
    assert not is_verified(HEADER, now_s=SENT_AT_S + skew_s)


def test_other_body_is_refused() -> None:
    assert not is_verified(HEADER, body=BODY + b" ")


def test_other_secret_is_refused() -> None:
    assert not is_verified(HEADER, secret=b"whsec_other")


def test_other_time_is_refused() -> None:
    assert not is_verified(f"t=1770000001,sig={DIGEST}")


def test_malformed_header_is_refused() -> None:
    assert not is_verified(f"t=1770000000,v1={DIGEST}")
