"""One request to a source through the guarded client (switch-over rules, "Jobs" and "Secrets")."""

from dataclasses import replace
from decimal import Decimal

import pytest

from adapters.gateways.base import CredentialsRefused
from adapters.safe_http import client as http_client
from adapters.switches import client
from adapters.switches.base import SourceRequest
from commands.demo.played import faults
from commands.demo.played.source import PlayedResponse
from tests.support.settings_overrides import override_settings
from tests.support.switches.small_source import KEY, SmallSource, create_account, play_small

_SOURCE = SmallSource()
_KEY = {"apiKey": KEY}


@pytest.fixture
def server(monkeypatch):
    with play_small(monkeypatch, create_account()) as server:
        yield server


def _fetch(path="/customers", query=None, **limits):
    return client.fetch(_SOURCE, _KEY, SourceRequest(path, query or {}), **limits)


def test_request_has_the_sources_path_query_and_headers(server):
    answer = _fetch("/customers", {"page": "2", "expand[]": ["a b", "c"]})

    (request,) = server.log
    assert (request.method, request.path) == ("GET", "/v1/customers")
    assert request.query == {"page": ["2"], "expand[]": ["a b", "c"]}
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["accept-encoding"] == "identity"
    assert answer.json["data"][0] == {"id": "c4"}
    assert answer.headers["CONTENT-TYPE"] == "application/json"


def _answer(server, body):
    server.faults.add(faults.PlayedFault(lambda ordinary: PlayedResponse(body)))
    return _fetch().json


def test_decimals_stay_exact(server):
    assert _answer(server, b'{"amount": 12.10, "big": 123456789012345678.12}') == {
        "amount": Decimal("12.10"),
        "big": Decimal("123456789012345678.12"),
    }


def test_half_of_a_character_pair_breaks_no_page(server):
    assert _answer(server, b'{"a": "x\\ud83d", "b": "\\ud83d\\ude00", "c": "\\\\ud83d"}') == {
        "a": "x\ufffd",
        "b": "\U0001f600",
        "c": "\\ud83d",
    }


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (faults.respond(401, {}), CredentialsRefused),
        (faults.html(401), CredentialsRefused),
        (faults.respond(403, {}), CredentialsRefused),
        (faults.respond(404, {}), client.SourceLacksList),
        (faults.too_many(retry_after_s=3), client.SourceBusy),
        (faults.respond(500), client.SourceUnreachable),
        (faults.respond(400, {}), client.SourceLacksList),
        (faults.html(200), client.SourceUnreachable),
        (faults.truncate(), client.SourceUnreachable),
        (faults.cut(), client.SourceUnreachable),
        (faults.close(), client.SourceUnreachable),
        (faults.gzip_bomb(), client.SourceUnreachable),
        (faults.respond(204), client.SourceUnreachable),
        (faults.large(), client.AnswerTooLarge),
        (faults.PlayedFault(lambda ordinary: PlayedResponse(b"[" * 100_000)), client.SourceUnreachable),
        (faults.PlayedFault(lambda ordinary: PlayedResponse(b"[1e-99999999999999999999]")), client.SourceUnreachable),
        (faults.slow(3), client.SourceUnreachable),
    ],
)
def test_each_fault_has_the_error_of_its_remedy(server, fault, error):
    server.faults.add(fault)

    with pytest.raises(error) as raised:
        _fetch("/customers", {"token": "in-the-query"}, timeout_s=1)
    assert KEY not in str(raised.value)
    assert "in-the-query" not in str(raised.value)


def test_busy_answer_keeps_its_headers(server):
    server.faults.add(faults.too_many(retry_after_s=3))

    with pytest.raises(client.SourceBusy) as busy:
        _fetch()
    assert busy.value.headers["retry-after"] == "3"


def test_answer_of_16_mib_is_read(server):
    body = b'{"data": ["' + b"x" * (16 * 1024 * 1024 - 100) + b'"]}'
    assert len(_answer(server, body)["data"][0]) == 16 * 1024 * 1024 - 100


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_to_the_same_host_is_followed_with_the_key(server, status):
    server.faults.add(faults.redirect("/v1/customers?page=2", status, path="/affiliates"))

    assert _fetch("/affiliates").json["data"][0] == {"id": "c4"}
    assert server.log[-1].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("location", ["http://localhost:1/v1/x", "https://example.com/", "//example.com/x"])
def test_redirect_to_another_host_is_not_followed(server, location):
    server.faults.add(faults.redirect(location))

    with pytest.raises(client.SourceUnreachable, match="redirects to another host"):
        _fetch()
    assert len(server.log) == 1


@pytest.mark.parametrize("location", ["//[", "http://[::1", "//[::1]]/x", "/v1/caf\xe9", "/v1/a b"])
def test_redirect_to_an_invalid_address_is_not_followed(server, location):
    server.faults.add(faults.redirect(location))

    with pytest.raises(client.SourceUnreachable):
        _fetch()
    assert len(server.log) == 1


def test_endless_redirect_ends(server):
    server.faults.add(faults.redirect("/v1/customers", path="/customers", times=99))

    with pytest.raises(client.SourceUnreachable, match="redirects too often"):
        _fetch()
    assert len(server.log) == 4


def test_private_address_is_refused_unless_the_base_url_is_set(server, monkeypatch):
    for address in ("https://127.0.0.1:8443/v1", "https://10.0.0.1/v1", "https://169.254.169.254/v1"):
        override_settings(monkeypatch, switches={"rewardful_base_url": None})
        monkeypatch.setattr(SmallSource, "info", _with_address(address))
        with pytest.raises(client.SourceUnreachable, match="cannot be called"):
            _fetch()
    assert server.log == []


def _with_address(address):
    return replace(SmallSource.info, address=address)


def test_key_that_cannot_be_sent_is_refused(server):
    with pytest.raises(CredentialsRefused):
        client.fetch(_SOURCE, {"apiKey": "a\r\nX-Other: 1"}, SourceRequest("/customers"))
    assert server.log == []


def test_body_beyond_the_limit_is_cut_off_only_without_refusal(server):
    server.faults.add(faults.large(2_000_000, times=2))
    policy = http_client.Policy(allow_private=True, max_read_bytes=100_000)
    url = f"{server.url}/v1/customers"
    response = http_client.Client(policy).ask("GET", url, body=b"", headers={})
    assert len(response[2]) < 200_000

    strict = http_client.Policy(allow_private=True, max_read_bytes=100_000, refuses_larger=True)
    with pytest.raises(http_client.ResponseTooLarge):
        http_client.Client(strict).ask("GET", url, body=b"", headers={})
