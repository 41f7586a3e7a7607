"""Error responses as the caller sees them. Source: core spec, section 7 "Errors"."""

import os

import pytest

from models import db

BASE_URL = "http://127.0.0.1:8000"


@pytest.fixture
def client(app):
    """A client without credentials."""
    return app.test_client()


@pytest.fixture
def without_database(app, tmp_path):
    """The service connected to a missing database server."""
    db.db.drop_connection()
    db.connect_to(f"postgresql://finderfee@/finderfee?host={tmp_path}")
    yield
    db.connect_to(os.environ["DATABASE_URL"])


@pytest.fixture
def failing_brand(brand):
    """A brand whose next statements raise an unexpected error."""

    def raise_error(_: bytes):
        raise ZeroDivisionError("ann@example.com, password hunter2")

    db.db.trip_hooks.append(raise_error)
    yield brand
    db.db.trip_hooks.remove(raise_error)


def test_unexpected_error_returns_500_without_details(failing_brand):
    answer = failing_brand.get("/api/v1/programs")

    assert answer.status_code == 500
    assert answer.json == {
        "error": "server_error",
        "message": "Something went wrong on our side. If it happens again, report the X-Request-Id.",
        "doc_url": f"{BASE_URL}/docs/errors#server_error",
    }
    assert len(answer.headers["X-Request-Id"]) == 32
    assert b"hunter2" not in answer.data


@pytest.mark.parametrize("path", ["/api/v1/programs", "/api/v1/conversions", "/api/v1/webhooks"])
def test_missing_database_returns_503_with_retry_after(brand, without_database, path):
    answer = brand.get(path)

    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "2"
    assert answer.json["error"] == "temporarily_unavailable"
    assert "host" not in answer.json["message"]


def test_sale_refused_without_a_database_is_accepted_once_on_retry(brand, tmp_path):
    brand.program()
    brand.affiliate("ben")
    db.db.drop_connection()
    db.connect_to(f"postgresql://finderfee@/finderfee?host={tmp_path}")
    try:
        refused = brand.sale(externalEventId="order-1")
    finally:
        db.connect_to(os.environ["DATABASE_URL"])
    accepted = brand.sale(externalEventId="order-1")
    repeated = brand.sale(externalEventId="order-1")

    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
    assert accepted.json["ok"] is True
    assert "conversionId" in accepted.json
    assert repeated.json == {"ok": True, "deduped": True}


def test_closed_database_connection_is_replaced(brand):
    brand.program()
    brand.affiliate("ben")
    brand.sale()
    brand.sale()
    with db.any_org_work():
        pid = db.db.row("select pg_backend_pid()")
    import psycopg2

    connection = psycopg2.connect(os.environ["DATABASE_OWNER_URL"])
    with connection, connection.cursor() as cursor:
        cursor.execute("select pg_terminate_backend(%s, 60000)", pid)
    connection.close()

    assert brand.sale().status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/api/tracking/s2s", {"OPTIONS", "POST"}),
        ("DELETE", "/api/v1/programs", {"GET", "HEAD", "OPTIONS", "POST"}),
        ("POST", "/healthz", {"GET", "HEAD", "OPTIONS"}),
    ],
)
def test_wrong_method_returns_405_with_the_allowed_methods(client, method, path, allowed):
    answer = client.open(path, method=method)

    assert answer.status_code == 405
    assert answer.json["error"] == "method_not_allowed"
    assert set(answer.headers["Allow"].split(", ")) == allowed


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/api/tracking/s2s/", "/%00", "/api/v1/programs/a/b/c"])
def test_unknown_path_returns_404(client, path):
    answer = client.get(path)

    assert answer.status_code == 404
    assert answer.json == {
        "error": "not_found",
        "message": "There is no such address.",
        "doc_url": f"{BASE_URL}/docs/errors#not_found",
    }


@pytest.mark.parametrize("path", ["/api//v1/programs", "//api/v1/programs", "/api/p//by-handle/x", "//evil.test/.."])
def test_double_slash_returns_404_without_a_redirect(client, path):
    answer = client.get(path, headers={"Host": "evil.test"})

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert "Location" not in answer.headers
    assert b"evil" not in answer.data


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/p/by-handle/nobody", 404),
        ("/api/brand-files/x", 404),
        ("/api/affiliate-invites/by-token/x", 404),
        ("/api/v1/programs", 401),
        ("/api/v1/settings/attribution-params/defaults", 200),
        ("/healthz", 200),
    ],
)
def test_answer_is_not_cacheable_by_default(client, path, status):
    answer = client.get(path)

    assert answer.status_code == status
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_docs_page_is_cacheable_and_cannot_be_framed(client):
    answer = client.get("/docs")

    assert answer.headers["Cache-Control"] == "public, max-age=300"
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_missing_credentials_return_401_without_a_body(client):
    answer = client.get("/api/v1/programs")

    assert (answer.status_code, answer.data) == (401, b"")


def test_too_large_body_returns_413(brand):
    answer = brand.post("/api/v1/affiliates", b" " * (64 * 1024 + 1))

    assert answer.status_code == 413
    assert answer.json["error"] == "payload_too_large"


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'"x"', b"NaN", b'{"a": "\xff"}', b"[" * 9_000, b'{"a": "\\ud800"}']
)
def test_non_object_body_returns_problem_details(brand, body):
    answer = brand.post("/api/v1/programs", body)

    assert answer.status_code == 400
    assert answer.content_type == "application/problem+json"
    assert answer.json["status"] == 400
    assert answer.json["errors"] == {"body": ["The body must be a JSON object in UTF-8 without duplicate keys."]}


def test_malformed_field_is_named_in_the_errors(brand):
    answer = brand.post("/api/v1/programs", {"name": 1})

    assert answer.status_code == 400
    assert answer.content_type == "application/problem+json"
    assert "name" in answer.json["errors"]


def test_refusal_links_the_paragraph_of_its_code(brand, client):
    refused = brand.get("/api/v1/programs/01a2240a-0000-7000-8000-000000000000")
    malformed = brand.post("/api/v1/programs", {"name": 1})
    unauthorized = client.get("/api/v1/programs")

    assert refused.json["doc_url"] == f"{BASE_URL}/docs/errors#not_found"
    assert malformed.json["doc_url"] == f"{BASE_URL}/docs/errors#invalid_request"
    assert unauthorized.headers["Link"] == f'<{BASE_URL}/docs/errors#unauthorized>; rel="help"'
    page = client.get("/docs/errors").text
    assert all(f'id="{code}"' in page for code in ("not_found", "invalid_request", "unauthorized", "rate_limited"))


def test_successful_answer_has_no_help_link(brand):
    answer = brand.get("/api/v1/programs")

    assert (answer.status_code, "Link" in answer.headers) == (200, False)
