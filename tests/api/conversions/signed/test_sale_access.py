"""Access to signed sales: keys, signatures and plans (tracking spec, sections 4, 5, 7 and 8)."""

import gzip
import json
import time
from datetime import UTC, datetime, timedelta

import pytest

from models import db
from models.organization import api_keys
from tests.support.rows.brands import Brand

URL = "/api/tracking/s2s"
SALE = b'{"externalEventId": "order-a", "affiliateSlug": "ben", "amountCents": 10000}'


def _post(brand, raw=SALE, **headers):
    """Post a sale with these headers only and return the response."""
    named_headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return brand.app.test_client().post(URL, data=raw, headers={"Content-Type": "application/json", **named_headers})


def _is_bare_401(answer):
    headers = {name.lower() for name, _ in answer.headers}
    return (answer.status_code, answer.data) == (401, b"") and headers == {
        "cache-control",
        "content-length",
        "link",
        "vary",
        "www-authenticate",
        "x-content-type-options",
        "x-request-id",
    }


def _post_signed_at(brand, offset_s, path=URL, raw=SALE):
    """Post a signature whose timestamp differs by `offset_s` from the second of its check; return the response."""
    while True:
        second = int(time.time())
        answer = brand.post_signed(path, raw, at=second + offset_s)
        if int(time.time()) == second:
            return answer


def test_key_is_accepted_in_either_header(shop):
    signature = shop.signature(SALE)

    bearer = _post(shop, Authorization=f"Bearer {shop.api_key}", X_Service_Signature=signature)
    legacy = _post(shop, X_Service_Api_Key=shop.api_key, X_Service_Signature=signature)

    assert "conversionId" in bearer.json
    assert legacy.json == {"ok": True, "deduped": True}


def test_authorization_takes_precedence_over_the_legacy_header(shop, rival):
    signature = {"X_Service_Signature": shop.signature(SALE)}
    own_key, rivals_key = f"Bearer {shop.api_key}", f"Bearer {rival.api_key}"

    assert _post(shop, Authorization=own_key, X_Service_Api_Key=rival.api_key, **signature).status_code == 200
    assert _post(shop, Authorization=own_key, X_Service_Api_Key="nonsense", **signature).status_code == 200
    assert _is_bare_401(_post(shop, Authorization=rivals_key, X_Service_Api_Key=shop.api_key, **signature))
    assert _is_bare_401(_post(shop, Authorization="Basic eDp5", X_Service_Api_Key=shop.api_key, **signature))
    assert _is_bare_401(_post(shop, Authorization="", X_Service_Api_Key=shop.api_key, **signature))


def test_test_key_creates_test_rows(shop, drain):
    test_key = shop.other_key(is_test=True)
    assert (test_key.api_key.split("_")[1], shop.api_key.split("_")[1]) == ("test", "live")

    test_key.sale(externalEventId="trial-run")
    shop.sale(externalEventId="for-real")
    drain()

    assert shop.rows("select external_event_id, is_test from conversion order by 1") == [
        ("for-real", False),
        ("trial-run", True),
    ]
    assert sorted(shop.rows("select is_test from ledger_entry")) == [(False,), (True,)]


def test_revoked_key_returns_401(shop):
    other = shop.other_key()
    with db.any_org_work():
        (key,) = [row for row in api_keys.any_org_list(shop.id) if row.last_four == other.api_key[-4:]]
        api_keys.revoke(organization_id=shop.id, key_id=key.id, at=datetime.now(UTC))

    assert _is_bare_401(other.sale())
    assert shop.sale().status_code == 200


def test_read_key_is_refused_with_the_missing_scope(shop):
    answer = shop.other_key(scope="read").sale()

    assert (answer.status_code, answer.json["error"]) == (403, "forbidden")
    assert sorted(answer.json) == ["doc_url", "error", "message"]
    assert "read_write" in answer.json["message"]


@pytest.mark.parametrize("offset_s", [-300, -299, 0, 300])
def test_signature_within_300_seconds_is_accepted(shop, offset_s):
    assert _post_signed_at(shop, offset_s).status_code == 200


@pytest.mark.parametrize("offset_s", [-301, 301, -86_400, 10**9])
def test_signature_beyond_300_seconds_returns_401(shop, offset_s):
    assert _is_bare_401(_post_signed_at(shop, offset_s))


@pytest.mark.parametrize(
    "damage",
    [
        lambda header: "",
        lambda header: header.split(",")[0],
        lambda header: header.split(",")[1],
        lambda header: header.replace("t=", "t=-"),
        lambda header: header.replace("t=", "t=+"),
        lambda header: header.replace("t=", f"t={10**20}"),
        lambda header: f"t={10**20},{header.split(',')[1]}",
        lambda header: f"t=,{header.split(',')[1]}",
        lambda header: f"t=now,{header.split(',')[1]}",
        lambda header: f"t=1e9,{header.split(',')[1]}",
        lambda header: f"{header.split(',')[0]},{header}",
        lambda header: f"{header},{header}",
        lambda header: f"{header},{header.split(',')[1]}",
        lambda header: ",".join(reversed(header.split(","))),
        lambda header: header.replace("sig=", "v1="),
        lambda header: header.replace("sig=", "SIG="),
        lambda header: header.split("sig=")[0] + "sig=" + header.split("sig=")[1].upper().replace("0", "A"),
        lambda header: header[:-1],
        lambda header: header[:-2],
        lambda header: header + "0",
        lambda header: header[:-1] + "g",
        lambda header: header[:-1] + ("0" if header[-1] != "0" else "1"),
        lambda header: header.split("sig=")[0] + "sig=",
        lambda header: header.split("sig=")[0] + "sig=" + "0" * 64,
        lambda header: header.replace(",", ";"),
        lambda header: "ſ" + header,
    ],
    ids=range(26),
)
def test_malformed_or_wrong_signature_returns_an_empty_401(shop, damage):
    header = shop.signature(SALE)

    assert _is_bare_401(shop.call("POST", URL, SALE, X_Service_Signature=damage(header)))
    assert shop.rows("select count(*) from sale") == [(0,)]


def test_upper_case_signature_returns_401(shop):
    t, sig = shop.signature(SALE).split("sig=")

    assert _is_bare_401(shop.call("POST", URL, SALE, X_Service_Signature=f"{t}sig={sig.upper()}"))


def test_missing_key_or_signature_of_another_key_returns_an_empty_401(shop, rival):
    other_key, signature = shop.other_key(), shop.signature(SALE)

    assert _is_bare_401(shop.call("POST", URL, SALE))
    assert _is_bare_401(shop.call("POST", URL, SALE, X_Signature=signature))
    assert _is_bare_401(shop.call("POST", URL, SALE, Signature=signature))
    assert _is_bare_401(shop.call("POST", URL, SALE, X_Service_Signature=rival.signature(SALE)))
    assert _is_bare_401(shop.call("POST", URL, SALE, X_Service_Signature=other_key.signature(SALE)))
    assert _is_bare_401(_post(shop, X_Service_Signature=signature))
    assert _is_bare_401(_post(shop, Authorization="Bearer nobody", X_Service_Signature=signature))
    assert _is_bare_401(_post(shop, Authorization=shop.api_key, X_Service_Signature=signature))
    with_secret_as_key = Brand(shop.app, shop.id, shop.signing_secret, shop.signing_secret)
    assert _is_bare_401(with_secret_as_key.post_signed(URL, SALE))


def test_signature_covers_the_exact_bytes(shop):
    signature = shop.signature(SALE)

    for body in (json.dumps(json.loads(SALE), separators=(",", ":")).encode(), SALE + b"\n", gzip.compress(SALE)):
        assert _is_bare_401(shop.call("POST", URL, body, X_Service_Signature=signature, Content_Encoding="gzip"))


def test_compressed_body_is_not_decompressed(shop):
    answer = shop.post_signed(URL, gzip.compress(SALE), Content_Encoding="gzip")

    assert (answer.status_code, answer.json["error"]) == (400, "invalid_body")


def test_form_content_type_changes_neither_signature_nor_parsing(shop):
    form = {"Content_Type": "application/x-www-form-urlencoded"}

    assert shop.post_signed(URL, SALE, **form).status_code == 200
    assert shop.post_signed(URL, b"externalEventId=a&affiliateSlug=ben", **form).json["error"] == "invalid_body"


def test_query_string_is_ignored(shop):
    assert "conversionId" in shop.post_signed(f"{URL}?amountCents=1", SALE).json
    assert shop.rows("select amount_cents from sale") == [(10_000,)]


@pytest.mark.parametrize("plan", ["Free", "Starter", "Growth", "Pro"])
def test_running_trial_may_sell_on_every_plan(app, plan):
    brand = Brand.create(app, plan=plan, status="Trialing")
    brand.program()
    brand.affiliate("ben")

    assert brand.sale().status_code == 200


@pytest.mark.parametrize("status", ["Active", "PastDue"])
@pytest.mark.parametrize("plan", ["Starter", "Growth", "Pro"])
def test_paid_plan_may_sell_even_past_due(app, plan, status):
    brand = Brand.create(app, plan=plan, status=status)
    brand.program()
    brand.affiliate("ben")

    assert brand.sale().status_code == 200


@pytest.mark.parametrize(
    ("plan", "status"),
    [("Free", "Active"), ("Free", "PastDue"), ("Starter", "Canceled"), ("Pro", "Canceled")],
)
def test_free_or_canceled_plan_returns_402_with_the_required_plan(app, plan, status):
    brand = Brand.create(app, plan=plan, status=status)
    brand.program()
    brand.affiliate("ben")

    answer = brand.sale()

    assert answer.status_code == 402
    assert answer.json == {
        "error": "plan_tier_required",
        "doc_url": "http://127.0.0.1:8000/docs/errors#plan_tier_required",
        "required": "Starter",
        "current": "Free",
        "trialing": False,
        "message": answer.json["message"],
    }
    assert answer.json["message"]


@pytest.mark.parametrize("plan", ["Free", "Starter", "Pro"])
def test_ended_trial_counts_as_free(app, plan):
    brand = Brand.create(app, plan=plan, status="Trialing")
    brand.set(trialEndsAt=(datetime.now(UTC) - timedelta(seconds=1)).isoformat())

    answer = brand.sale()

    assert (answer.status_code, answer.json["current"], answer.json["trialing"]) == (402, "Free", False)


def test_trial_ending_within_a_minute_still_counts(app):
    brand = Brand.create(app, plan="Free", status="Trialing")
    brand.set(trialEndsAt=(datetime.now(UTC) + timedelta(seconds=60)).isoformat())

    assert brand.sale().json["error"] == "affiliate_not_found"
