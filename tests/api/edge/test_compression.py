"""Compression of answers: which answers, for which clients, and never those with a secret."""

import gzip
import re

import pytest
from marshmallow import Schema, fields

from api.edge.compression import MIN_BYTES

LOADER = "/api/v1/r/loader.js"


@pytest.fixture
def campaign_brand(brand):
    """The brand with enough programs for an answer that is worth compressing."""
    for _ in range(3):
        brand.program()
    return brand


def _get(brand, path, accept="gzip, deflate, br", method="GET", **headers):
    request_headers = {"Authorization": f"Bearer {brand.api_key}"} | {
        name.replace("_", "-"): headers[name] for name in headers
    }
    if accept is not None:
        request_headers["Accept-Encoding"] = accept
    return brand.app.test_client().open(path, method=method, headers=request_headers)


def _parse_vary(answer):
    return {name.strip() for line in answer.headers.getlist("Vary") for name in line.split(",")}


def test_long_answer_is_compressed_for_clients_that_accept_gzip(campaign_brand):
    plain = _get(campaign_brand, "/api/v1/programs", accept=None)
    compressed = _get(campaign_brand, "/api/v1/programs")

    assert compressed.headers["Content-Encoding"] == "gzip"
    assert int(compressed.headers["Content-Length"]) == len(compressed.data) < len(plain.data) / 2
    assert gzip.decompress(compressed.data) == plain.data
    assert _parse_vary(compressed) == _parse_vary(plain) == {"Origin", "Accept-Encoding"}
    assert compressed.content_type == plain.content_type == "application/json"


@pytest.mark.parametrize("accept", [None, "", "identity", "br", "gzip;q=0", "deflate, gzip;q=0.0", "*;q=0", "\udcff"])
def test_answer_is_plain_without_accepted_gzip(campaign_brand, accept):
    answer = _get(campaign_brand, "/api/v1/programs", accept)

    assert "Content-Encoding" not in answer.headers
    assert answer.json["items"]


@pytest.mark.parametrize("accept", ["gzip", "GZIP", "*", "br;q=1.0, gzip;q=0.5"])
def test_any_accepted_form_of_gzip_compresses(campaign_brand, accept):
    assert _get(campaign_brand, "/api/v1/programs", accept).headers["Content-Encoding"] == "gzip"


def test_short_answer_is_not_compressed(brand):
    answer = _get(brand, "/api/v1/programs")

    assert len(answer.data) < MIN_BYTES
    assert "Content-Encoding" not in answer.headers
    assert _parse_vary(answer) == {"Origin"}


def test_long_error_response_is_compressed(brand):
    body = {"programId": str(brand.program()), "conversions": [{}] * 40}

    answer = brand.post("/api/v1/conversions/import", body, Accept_Encoding="gzip")

    assert (answer.status_code, answer.content_type) == (400, "application/json")
    assert answer.headers["Content-Encoding"] == "gzip"


def test_head_has_the_headers_of_get(campaign_brand):
    get = _get(campaign_brand, "/api/v1/programs")
    head = _get(campaign_brand, "/api/v1/programs", method="HEAD")

    assert head.data == b""
    for name in ("Content-Encoding", "Content-Length", "Vary"):
        assert head.headers[name] == get.headers[name]


def test_csv_export_is_not_compressed(brand):
    brand.set(plan="Pro")
    for path in ("/api/v1/conversions/export.csv", "/api/v1/audit-log?format=csv"):
        answer = _get(brand.person("Owner"), path)
        assert answer.status_code == 200
        assert "Content-Encoding" not in answer.headers


def test_openapi_document_is_compressed(app, brand):
    answer = _get(brand, "/api/openapi.json")

    assert answer.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(answer.data) == _get(brand, "/api/openapi.json", accept=None).data


def test_replayed_answer_is_compressed_only_if_the_repeat_accepts_it(campaign_brand):
    body = {"name": "P", "slug": "p-x", "defaultCommissionType": "Percentage", "defaultCommissionValue": 1}
    body["description"] = "x" * 2000
    first = campaign_brand.post("/api/v1/programs", body, Idempotency_Key="k", Accept_Encoding="gzip")
    again = campaign_brand.post("/api/v1/programs", body, Idempotency_Key="k")

    assert first.status_code == 201
    assert first.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in again.headers
    assert gzip.decompress(first.data) == again.data


def test_answer_with_a_secret_is_never_compressed(brand):
    event_types = ["*"]
    endpoint = brand.post(
        "/api/v1/webhooks",
        {"url": "https://localhost/hook", "events": event_types, "description": "x" * 200},
        Accept_Encoding="gzip",
    )
    owner = brand.person("Owner")
    key = owner.post("/api/v1/api-keys", {"name": "x" * 60}, Accept_Encoding="gzip")

    assert (endpoint.status_code, key.status_code) == (201, 201), (endpoint.json, key.json)
    assert "Content-Encoding" not in endpoint.headers
    assert "Content-Encoding" not in key.headers


def test_long_answer_with_a_secret_is_never_compressed(campaign_brand, monkeypatch):
    monkeypatch.setattr("api.edge.compression.MIN_BYTES", 1)
    endpoint = campaign_brand.endpoint("https://localhost/hook")

    rotated = campaign_brand.post(f"/api/v1/webhooks/{endpoint['id']}/rotate-secret", Accept_Encoding="gzip")
    endpoint_answer = _get(campaign_brand, f"/api/v1/webhooks/{endpoint['id']}")

    assert rotated.json["secret"]
    assert "Content-Encoding" not in rotated.headers
    assert endpoint_answer.headers["Content-Encoding"] == "gzip"


def test_invite_link_next_to_a_chosen_note_is_not_compressed(brand):
    note = f"<p>{'x' * 1500}</p>"
    invite = {"programId": str(brand.program()), "email": "rita@example.com", "personalNoteHtml": note}

    answer = brand.person("Owner").post("/api/affiliate-invites", invite, Accept_Encoding="gzip")

    assert answer.status_code == 201
    assert len(answer.data) > MIN_BYTES
    assert answer.json["acceptUrl"]
    assert "Content-Encoding" not in answer.headers


_SECRET = re.compile(r"(^|_)(secret|api_key|password|token|signature|accept_url|signed_url|download_url)$")


def _list_field_names(schema, seen=()):
    for name, field in schema.fields.items():
        if not isinstance(field, fields.Boolean):  # it may describe a secret, but cannot hold one
            yield name
        inner = field.inner if isinstance(field, fields.List) else field
        if isinstance(inner, fields.Nested) and isinstance(inner.schema, Schema) and inner.schema not in seen:
            yield from _list_field_names(inner.schema, (*seen, inner.schema))


def test_operations_that_return_a_secret_declare_it(app):
    undeclared = [
        rule.rule
        for rule in app.url_map.iter_rules()
        for operation in [app.view_functions[rule.endpoint].operation]
        if operation.gives.schema is not None
        and any(_SECRET.search(name) for name in _list_field_names(operation.gives.schema))
        and not operation.shows_secret
    ]

    assert undeclared == []


def test_compressed_and_plain_script_have_different_etags(app):
    client = app.test_client()
    plain = client.get(LOADER)
    compressed = client.get(LOADER, headers={"Accept-Encoding": "gzip"})

    assert compressed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(compressed.data) == plain.data
    assert len(compressed.data) < len(plain.data) / 2
    assert "Accept-Encoding" in _parse_vary(plain) & _parse_vary(compressed)
    assert compressed.headers["ETag"] != plain.headers["ETag"]
    for answer, accept in ((plain, "identity"), (compressed, "gzip")):
        again = client.get(LOADER, headers={"Accept-Encoding": accept, "If-None-Match": answer.headers["ETag"]})
        assert (again.status_code, again.data) == (304, b"")
        assert "Accept-Encoding" in _parse_vary(again)


def test_script_is_compressed_once(app, monkeypatch):
    from api.edge import compression

    client = app.test_client()
    client.get(LOADER, headers={"Accept-Encoding": "gzip"})
    monkeypatch.setattr(compression, "compress_bytes", None)

    assert client.get(LOADER, headers={"Accept-Encoding": "gzip"}).status_code == 200
