"""Human verification: what is sent to a verification service, which responses are trusted, and the local tokens."""

import http.server
import json
import threading
import time
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs

import pytest

import settings
from adapters.fraud import human_check
from adapters.fraud.human_check import LocalTokens, NotConfigured, SiteVerify, VerifierUnavailable
from commands.demo.no_delay_handler import NoDelayHandler
from tests.support.rows.paid_leads import configure_human_check

_NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
_SECRET_KEY = "a key for these tests that is long enough"


class _VerificationService(http.server.ThreadingHTTPServer):
    """A service whose response `answer` writes; `forms` holds the form of each request."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.forms = []
        self.answer = _respond_with({"success": True})
        self.url = f"http://127.0.0.1:{self.server_address[1]}/siteverify"


class _Handler(NoDelayHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.forms.append({name: values[0] for name, values in parse_qs(body).items()})
        self.server.answer(self)


def _respond_with(body, status=200, **headers):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    def answer(handler):
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content)

    return answer


@pytest.fixture
def service():
    """Return a verification service on a real socket."""
    server = _VerificationService()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def _verify(service, token="abc", about="ben ada@example.com"):
    return SiteVerify(service.url, "secret").verify(token, ip="192.0.2.7", about=about, now=_NOW)


def test_service_receives_secret_token_and_address(service):
    assert _verify(service) is True

    (form,) = service.forms
    sent_fields = {name: form[name] for name in ("secret", "response", "remoteip")}
    assert sent_fields == {"secret": "secret", "response": "abc", "remoteip": "192.0.2.7"}


def test_idempotency_key_depends_on_the_use(service):
    for about in ("ben ada@example.com", "ben ada@example.com", "ben bob@example.com"):
        _verify(service, about=about)

    first, again, other = (form["idempotency_key"] for form in service.forms)
    assert first == again != other


@pytest.mark.parametrize(
    "body",
    [
        {"success": False},
        {"success": False, "error-codes": ["invalid-input-response"]},
        {"success": False, "error-codes": ["timeout-or-duplicate"]},
        {"success": False, "error-codes": "odd"},
    ],
)
def test_token_rejected_by_the_service_is_not_verified(service, body):
    service.answer = _respond_with(body)

    assert _verify(service) is False


@pytest.mark.parametrize("token", ["", "x" * 4097])
def test_impossible_token_is_not_sent(service, token):
    assert _verify(service, token) is False
    assert service.forms == []


@pytest.mark.parametrize(
    "answer",
    [
        _respond_with(b"<html>"),
        _respond_with(b""),
        _respond_with([]),
        _respond_with({}),
        _respond_with({"success": "true"}),
        _respond_with({"success": 1}),
        _respond_with({"success": True}, status=500),
        _respond_with({"success": True}, status=403),
        _respond_with(b"", status=302, Location="/elsewhere"),
        _respond_with(b'{"success": true, "more": "' + b"x" * 20_000 + b'"}'),
        _respond_with({"success": False, "error-codes": ["invalid-input-secret"]}),
        _respond_with({"success": False, "error-codes": ["internal-error", 7]}),
        lambda handler: handler.connection.close(),
    ],
)
def test_unusable_response_raises_verifier_unavailable(service, answer):
    service.answer = answer

    with pytest.raises(VerifierUnavailable):
        _verify(service)


def test_unreachable_service_raises_verifier_unavailable():
    with pytest.raises(VerifierUnavailable):
        SiteVerify("http://127.0.0.1:9/", "s").verify("abc", ip="", about="", now=_NOW)


def test_slow_response_is_abandoned_in_time(service, monkeypatch):
    def drip(handler):
        handler.send_response(200)
        handler.end_headers()
        for _ in range(2400):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)

    service.answer = drip
    monkeypatch.setattr(human_check, "_MAX_RESPONSE_S", 0.2)
    started = time.monotonic()

    with pytest.raises(VerifierUnavailable):
        _verify(service)
    assert time.monotonic() - started < 60  # the whole response would take two minutes


def _is_valid(local, token, after_s=0):
    return local.verify(token, ip="", about="", now=_NOW + timedelta(seconds=after_s))


@pytest.mark.parametrize(("ready_in_s", "valid_after_s"), [(0, (0, 1, 599)), (2, (2, 599))])
def test_local_token_is_valid_for_ten_minutes(ready_in_s, valid_after_s):
    local = LocalTokens(b"key")
    token = local.issue(now=_NOW, ready_in_s=ready_in_s)

    assert all(_is_valid(local, token, after_s) for after_s in valid_after_s)
    assert not any(_is_valid(local, token, after_s) for after_s in (-1, 600, 10**6))
    assert _is_valid(local, token, 1) is (ready_in_s == 0)


def test_tokens_are_unique():
    local = LocalTokens(b"key")

    assert local.issue(now=_NOW) != local.issue(now=_NOW)


@pytest.mark.parametrize("change", [lambda t: t[:-1], lambda t: f"1{t}", lambda t: t.replace(".", "", 1), str.upper])
def test_changed_token_is_invalid(change):
    local = LocalTokens(b"key")

    assert not _is_valid(local, change(local.issue(now=_NOW)))


@pytest.mark.parametrize("token", ["", ".", "...", "1.2.3.4", "é", "\ud800", "\x00", "x" * 10**5])
def test_malformed_token_is_invalid(token):
    assert not _is_valid(LocalTokens(b"key"), token)


def test_token_of_another_key_is_invalid():
    assert not _is_valid(LocalTokens(b"key"), LocalTokens(b"other").issue(now=_NOW))


def _verify_as_configured(token="abc"):
    return human_check.verify(token, ip="", about="", now=_NOW)


def test_operators_database_without_a_service_raises_not_configured():
    with configure_human_check(URL=""), pytest.raises(NotConfigured):
        _verify_as_configured()


def test_embedded_servers_use_local_tokens_by_default(monkeypatch):
    monkeypatch.delenv("DATABASE_URL")
    with configure_human_check(URL=""):
        assert human_check.find_local_issuer() is not None


def test_local_tokens_are_accepted_when_configured():
    with configure_human_check(URL="local"):
        local = human_check.find_local_issuer()
        assert local is not None
        assert _verify_as_configured(local.issue(now=_NOW))
        assert human_check.find_widget() is None


def test_local_token_is_rejected_when_a_service_is_configured(service):
    with configure_human_check(URL="local"):
        token = human_check.find_local_issuer().issue(now=_NOW)
    service.answer = _respond_with({"success": False})

    with configure_human_check(
        URL=service.url, SECRET="s", SCRIPT_URL="https://human.example.com/api.js", SITE_KEY="k"
    ):
        assert human_check.find_local_issuer() is None
        assert not _verify_as_configured(token)
        assert human_check.find_widget() == human_check.Widget("https://human.example.com/api.js", "k")


def test_local_tokens_depend_on_the_secret_key(monkeypatch):
    with configure_human_check(URL="local"):
        token = human_check.find_local_issuer().issue(now=_NOW)
    monkeypatch.setenv("SECRET_KEY", _SECRET_KEY)

    with configure_human_check(URL="local"):
        assert settings.current().servers.secret_key == _SECRET_KEY
        assert not _verify_as_configured(token)
