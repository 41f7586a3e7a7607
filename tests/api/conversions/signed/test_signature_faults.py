"""A failed check of a signed request is logged with the request's id and never named in the response."""

import time

import pytest
import structlog

from api.access import signatures
from tests.api.conversions.signed.test_sale_access import SALE, URL


@pytest.fixture
def log_entries(monkeypatch):
    """Return the log entries of the signature check, regardless of this process's log level."""
    capture = structlog.testing.LogCapture()
    processors = [structlog.contextvars.merge_contextvars, capture]
    all_levels = structlog.make_filtering_bound_logger(0)
    monkeypatch.setattr(
        signatures, "_log", structlog.wrap_logger(None, processors=processors, wrapper_class=all_levels)
    )
    return capture.entries


def _post(app, key, signature, path=URL):
    headers = {"Content-Type": "application/json", "X-Request-Id": "from-the-shop"}
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    if signature is not None:
        headers["X-Service-Signature"] = signature
    return app.test_client().post(path, data=SALE, headers=headers)


def _find_key_id(brand, key):
    return brand.rows("select id from api_key where last_four = %s", key[-4:])[0][0]


@pytest.mark.parametrize("path", [URL, "/api/tracking/lead", "/api/tracking/refund"])
def test_each_fault_is_logged_and_returns_the_same_response(app, brand, log_entries, path):
    revoked = brand.other_key()
    brand.rows("update api_key set revoked_at = now() where last_four = %s returning id", revoked.api_key[-4:])
    signature, key = brand.signature(SALE), brand.api_key
    faults = {
        "key_missing": (None, signature),
        "key_unknown": ("ff_live_nobodys", signature),
        "key_revoked": (revoked.api_key, revoked.signature(SALE)),
        "signature_missing": (key, None),
        "signature_malformed": (key, signature.replace("sig=", "v1=")),
        "timestamp_out_of_tolerance": (key, brand.signature(SALE, at=int(time.time()) - 400)),
        "signature_mismatch": (key, brand.signature(SALE + b" ")),
    }

    answers = [_post(app, *credentials, path=path) for credentials in faults.values()]

    assert [line["fault"] for line in log_entries] == list(faults)
    assert {line["event"] for line in log_entries} == {"request.not_signed"}
    assert {line["request_id"] for line in log_entries} == {"from-the-shop"}
    assert {(answer.status_code, answer.data, str(sorted(answer.headers))) for answer in answers} == {
        (401, b"", str(sorted(answers[0].headers)))
    }


def test_log_contains_the_keys_id_but_no_secret(app, brand, log_entries):
    signature = brand.signature(SALE + b" ")
    _post(app, brand.api_key, signature)
    _post(app, "ff_live_nobodys-secret", signature)

    with_key, without_key = log_entries
    assert (with_key["key_id"], with_key["organization_id"]) == (_find_key_id(brand, brand.api_key), brand.id)
    assert (without_key["key_id"], "organization_id" in without_key) == (None, False)
    text = str(log_entries)
    for secret in (brand.api_key, brand.signing_secret, signature.partition("sig=")[2], "nobodys-secret"):
        assert secret not in text


def test_valid_request_logs_no_fault(app, brand, log_entries):
    _post(app, brand.api_key, brand.signature(SALE))

    assert log_entries == []
