"""Which check a signed request failed: told in our log under the request's id, and never in the answer."""

import time

import pytest
import structlog

from api.access import signatures
from tests.api.conversions.signed.test_sale_access import SALE, URL


@pytest.fixture
def heard(monkeypatch):
    """The lines of the guard, whatever the level of this process."""
    capture = structlog.testing.LogCapture()
    processors = [structlog.contextvars.merge_contextvars, capture]
    everything = structlog.make_filtering_bound_logger(0)
    monkeypatch.setattr(
        signatures, "_log", structlog.wrap_logger(None, processors=processors, wrapper_class=everything)
    )
    return capture.entries


def _post(app, key, signature, path=URL):
    headers = {"Content-Type": "application/json", "X-Request-Id": "from-the-shop"}
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    if signature is not None:
        headers["X-Service-Signature"] = signature
    return app.test_client().post(path, data=SALE, headers=headers)


def _key_id(brand, key):
    return brand.rows("select id from api_key where last_four = %s", key[-4:])[0][0]


@pytest.mark.parametrize("path", [URL, "/api/tracking/lead", "/api/tracking/refund"])
def test_every_fault_is_named_in_the_log_and_answered_alike(app, brand, heard, path):
    revoked = brand.other_key()
    brand.rows("update api_key set revoked_at = now() where last_four = %s returning id", revoked.api_key[-4:])
    good, key = brand.signature(SALE), brand.api_key
    faults = {
        "key_missing": (None, good),
        "key_unknown": ("ff_live_nobodys", good),
        "key_revoked": (revoked.api_key, revoked.signature(SALE)),
        "signature_missing": (key, None),
        "signature_malformed": (key, good.replace("sig=", "v1=")),
        "timestamp_out_of_tolerance": (key, brand.signature(SALE, at=int(time.time()) - 400)),
        "signature_mismatch": (key, brand.signature(SALE + b" ")),
    }

    answers = [_post(app, *sent, path=path) for sent in faults.values()]

    assert [line["fault"] for line in heard] == list(faults)
    assert {line["event"] for line in heard} == {"request.not_signed"}
    assert {line["request_id"] for line in heard} == {"from-the-shop"}
    assert {(answer.status_code, answer.data, str(sorted(answer.headers))) for answer in answers} == {
        (401, b"", str(sorted(answers[0].headers)))
    }


def test_the_log_names_the_key_by_its_id_and_holds_no_secret(app, brand, heard):
    signature = brand.signature(SALE + b" ")
    _post(app, brand.api_key, signature)
    _post(app, "ff_live_nobodys-secret", signature)

    known, unknown = heard
    assert (known["key_id"], known["organization_id"]) == (_key_id(brand, brand.api_key), brand.id)
    assert (unknown["key_id"], "organization_id" in unknown) == (None, False)
    text = str(heard)
    for secret in (brand.api_key, brand.signing_secret, signature.partition("sig=")[2], "nobodys-secret"):
        assert secret not in text


def test_what_is_in_order_says_nothing(app, brand, heard):
    _post(app, brand.api_key, brand.signature(SALE))

    assert heard == []
