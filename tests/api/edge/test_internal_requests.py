"""An internal request to an operation has its own request context."""

from flask import g, request

from api.edge import internal_requests
from api.edge.internal_requests import Channel

OUTER_ENVIRON = {"REMOTE_ADDR": "203.0.113.9"}


def test_internal_request_keeps_the_outer_context_and_shares_its_id(app, brand):
    headers = {
        "Authorization": "Bearer outer",
        "Accept": "text/csv",
        "Cookie": "a=b",
        "Idempotency-Key": "outer",
        "X-Forwarded-For": "198.51.100.1",
        "X-Service-Signature": "t=1,sig=0",
    }
    contexts = []

    def record_context(_: object) -> None:
        contexts.append((dict(request.headers), request.remote_addr, g.request_id, internal_requests.channel()))

    app.before_request_funcs.setdefault("programs", []).append(lambda: record_context(None))
    try:
        with app.test_request_context("/outer", headers=headers, environ_base=OUTER_ENVIRON):
            g.request_id, g.caller, g.operation, g.trace = "one-id", "the outer", "its operation", "its trace"
            answer = internal_requests.send(
                "programs.list_programs",
                query="take=1",
                headers={"Authorization": f"Bearer {brand.api_key}"},
                channel=Channel("mcp", "tester"),
            )

            assert (answer.status_code, answer.json["items"]) == (200, [])
            assert answer.headers["X-Request-Id"] == "one-id"
            assert (g.request_id, g.caller, g.operation, g.trace) == (
                "one-id",
                "the outer",
                "its operation",
                "its trace",
            )
            assert (request.path, internal_requests.channel()) == ("/outer", None)
    finally:
        app.before_request_funcs["programs"].clear()
    ((inner_headers, address, request_id, channel),) = contexts
    assert set(inner_headers) <= {
        "Authorization",
        "Content-Length",
        "Content-Type",
        "Host",
        "User-Agent",
        "X-Request-Id",
    }
    assert (address, request_id, channel) == ("203.0.113.9", "one-id", Channel("mcp", "tester"))


def test_id_with_special_characters_reaches_no_other_route(app, brand):
    brand.program()
    with app.test_request_context("/outer"):
        g.request_id = "one-id"
        for id in ("a b", "ä", "%2e%2e", "stats?x=1", "x\x00y"):
            answer = internal_requests.send(
                "programs.get_program",
                path={"program_id": id},
                headers={"Authorization": f"Bearer {brand.api_key}"},
            )

            assert (answer.status_code, answer.json["error"]) == (404, "not_found"), id
