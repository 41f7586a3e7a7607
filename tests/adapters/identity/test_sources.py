"""The keys of an identity provider: fetched within limits, cached, and read again when due."""

import json
import os
import threading
import time

import pytest

from adapters.identity import sources
from adapters.identity import tokens as identity
from tests.support.outside import identity_provider as idp

_CACHE_S = 600
_UNKNOWN_KID_S = 60
_RETRY_S = 30
_MAX_BYTES = 256 * 1024


class _Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock():
    """Return a clock that stops at a time until a test sets it."""
    return _Clock()


@pytest.fixture
def provider():
    """Return a provider that publishes one key of each type."""
    server = idp.JwksServer(*(idp.public_jwk(idp.private_key(alg)) for alg in ("RS256", "ES256", "EdDSA")))
    yield server
    server.stop()


@pytest.fixture
def verifier(provider, clock):
    """Return a verifier that reads the provider's keys over HTTP."""
    return identity.Verifier(idp.ISSUER, idp.AUDIENCE, sources.PublishedKeys(provider.url, clock=clock))


@pytest.fixture
def warnings(monkeypatch):
    """Return the reasons of the logged warnings."""
    warnings = []
    monkeypatch.setattr(sources._log, "warning", lambda event, **fields: warnings.append(fields["why"]))
    return warnings


@pytest.mark.parametrize("alg", ["RS256", "ES256", "EdDSA"])
def test_published_key_verifies(verifier, alg):
    assert verifier.claims(idp.sign_token(idp.private_key(alg)))


def test_key_set_is_cached_for_ten_minutes(verifier, provider, clock):
    for clock.now_s in (0, 1, _CACHE_S - 1):
        assert verifier.claims(idp.sign_token(idp.private_key("ES256")))
    assert len(provider.requested_paths) == 1

    clock.now_s = _CACHE_S
    assert verifier.claims(idp.sign_token(idp.private_key("ES256")))
    assert len(provider.requested_paths) == 2


def test_new_key_is_accepted_at_once(verifier, provider, clock):
    assert verifier.claims(idp.sign_token(idp.private_key("ES256")))
    provider.keys = [idp.public_jwk(idp.private_key("ES256", "two"))]
    clock.now_s = 1

    assert verifier.claims(idp.sign_token(idp.private_key("ES256", "two")))
    assert verifier.claims(idp.sign_token(idp.private_key("ES256"))) is None


def test_withdrawn_key_is_rejected_after_ten_minutes(verifier, provider, clock):
    assert verifier.claims(idp.sign_token(idp.private_key("ES256")))
    provider.keys = []

    clock.now_s = _CACHE_S - 1
    assert verifier.claims(idp.sign_token(idp.private_key("ES256")))
    clock.now_s = _CACHE_S
    assert verifier.claims(idp.sign_token(idp.private_key("ES256"))) is None


def test_unknown_kids_cause_one_fetch_a_minute(verifier, provider, clock):
    unknown = [idp.sign_token(idp.private_key("ES256", "two"), kid=f"unknown-{number}") for number in range(20)]
    assert verifier.claims(idp.sign_token(idp.private_key("ES256")))

    assert [verifier.claims(token) for token in unknown] == [None] * 20
    assert len(provider.requested_paths) == 2
    clock.now_s = _UNKNOWN_KID_S - 1
    assert [verifier.claims(token) for token in unknown] == [None] * 20
    assert len(provider.requested_paths) == 2
    clock.now_s = _UNKNOWN_KID_S
    assert [verifier.claims(token) for token in unknown] == [None] * 20
    assert len(provider.requested_paths) == 3


def test_unknown_kid_in_the_first_token_causes_one_fetch(verifier, provider):
    assert verifier.claims(idp.sign_token(idp.private_key("ES256"), kid="unknown")) is None
    assert len(provider.requested_paths) == 1


@pytest.mark.parametrize("header", [{"kid": ...}, {"alg": "ES256", "kid": "ES256-one"}])
def test_bad_signature_causes_no_fetch(verifier, provider, header):
    assert verifier.claims(idp.sign_token(idp.private_key("ES256")))

    assert verifier.claims(idp.sign_token(idp.private_key("ES256", "two"), **header)) is None
    assert len(provider.requested_paths) == 1


def test_impossible_token_causes_no_fetch(verifier, provider):
    for text in ("a.b.c", idp.sign_token(idp.symmetric_key(b"x" * 32), alg="HS256", kid="unknown"), "x" * 9000):
        assert verifier.claims(text) is None
    assert provider.requested_paths == []


def test_concurrent_unknown_kids_cause_one_fetch(verifier, provider):
    assert verifier.claims(idp.sign_token(idp.private_key("ES256")))
    tokens = [idp.sign_token(idp.private_key("ES256"), kid=f"unknown-{number}") for number in range(16)]
    threads = [threading.Thread(target=verifier.claims, args=(token,)) for token in tokens]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(provider.requested_paths) == 2


def test_concurrent_first_tokens_cause_one_fetch_and_verify(verifier, provider):
    results = []
    token = idp.sign_token(idp.private_key("ES256"))
    threads = [threading.Thread(target=lambda: results.append(verifier.claims(token))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(results) == 16
    assert all(results)
    assert len(provider.requested_paths) == 1


def _break(provider, fault: str) -> None:
    if fault == "status":
        provider.status = 503
    elif fault == "redirect":
        provider.status, provider.headers = 302, {"Location": "/elsewhere"}
    elif fault == "large":
        provider.body = json.dumps({"keys": provider.keys, "pad": "x" * _MAX_BYTES}).encode()
    elif fault == "truncated":
        provider.headers = {"Transfer-Encoding": "chunked"}
    else:
        provider.body = fault.encode()


_BROKEN = ["status", "redirect", "large", "truncated", "", "<html>", "[]", "{}", '{"keys": {}}', '{"keys": null}', "7"]


@pytest.mark.parametrize("fault", _BROKEN)
def test_failing_provider_keeps_its_old_keys_with_a_warning(verifier, provider, clock, warnings, fault):
    assert verifier.claims(idp.sign_token(idp.private_key("ES256")))
    _break(provider, fault)
    clock.now_s = _CACHE_S

    assert verifier.claims(idp.sign_token(idp.private_key("ES256")))
    assert verifier.claims(idp.sign_token(idp.private_key("ES256")))
    assert len(provider.requested_paths) == 2
    assert len(warnings) == 1


@pytest.mark.parametrize("fault", _BROKEN)
def test_tokens_are_rejected_until_a_provider_failing_from_the_start_recovers(
    verifier, provider, clock, warnings, fault
):
    _break(provider, fault)
    for _ in range(3):
        assert verifier.claims(idp.sign_token(idp.private_key("ES256"))) is None
    assert provider.requested_paths == ["/jwks.json"]
    assert len(warnings) == 1

    provider.status, provider.headers, provider.body = 200, {}, None
    clock.now_s = _RETRY_S
    assert verifier.claims(idp.sign_token(idp.private_key("ES256"), kid=...))


def test_unreachable_provider_keeps_its_old_keys(provider, clock, warnings):
    stopped_provider = idp.JwksServer(*provider.keys)
    verifier = identity.Verifier(idp.ISSUER, idp.AUDIENCE, sources.PublishedKeys(stopped_provider.url, clock=clock))
    assert verifier.claims(idp.sign_token(idp.private_key("ES256")))
    stopped_provider.stop()

    for clock.now_s in (_CACHE_S, 100 * _CACHE_S):
        assert verifier.claims(idp.sign_token(idp.private_key("ES256")))
    assert len(warnings) == 2


def test_old_keys_are_used_during_a_fetch(verifier, provider, clock, monkeypatch):
    assert verifier.claims(idp.sign_token(idp.private_key("ES256")))
    entered, leave = threading.Event(), threading.Event()
    fetch = sources._fetch

    def slow(url: str) -> bytes:
        entered.set()
        leave.wait(60)
        return fetch(url)

    monkeypatch.setattr(sources, "_fetch", slow)
    clock.now_s = _CACHE_S
    first_thread = threading.Thread(target=verifier.claims, args=(idp.sign_token(idp.private_key("ES256")),))
    first_thread.start()
    assert entered.wait(60)

    assert verifier.claims(idp.sign_token(idp.private_key("ES256")))
    assert len(provider.requested_paths) == 1
    leave.set()
    first_thread.join()
    assert len(provider.requested_paths) == 2


def test_key_set_of_the_maximum_size_is_read(verifier, provider):
    document = json.dumps({"keys": provider.keys, "pad": ""})
    provider.body = json.dumps({"keys": provider.keys, "pad": "x" * (_MAX_BYTES - len(document))}).encode()

    assert len(provider.body) == _MAX_BYTES
    assert verifier.claims(idp.sign_token(idp.private_key("ES256")))


def test_environment_proxies_are_ignored(verifier, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")

    assert verifier.claims(idp.sign_token(idp.private_key("ES256")))


def _write_keys(path, *keys) -> None:
    before = path.stat().st_mtime_ns if path.exists() else time.time_ns()
    path.write_text(json.dumps({"keys": list(keys)}))
    os.utime(path, ns=(before + 1, before + 1))


@pytest.fixture
def path(tmp_path):
    """Return the file with one key."""
    file = tmp_path / "jwks.json"
    _write_keys(file, idp.public_jwk(idp.private_key("ES256")))
    return file


@pytest.fixture
def file_verifier(path):
    """Return a verifier that reads its keys from the file."""
    return identity.Verifier(idp.ISSUER, idp.AUDIENCE, sources.KeyFile(path))


def test_changed_file_is_read_again(file_verifier, path):
    assert file_verifier.claims(idp.sign_token(idp.private_key("ES256")))
    _write_keys(path, idp.public_jwk(idp.private_key("ES256", "two")))

    assert file_verifier.claims(idp.sign_token(idp.private_key("ES256", "two")))
    assert file_verifier.claims(idp.sign_token(idp.private_key("ES256"))) is None


def test_unchanged_file_is_not_read_again(file_verifier, path):
    assert file_verifier.claims(idp.sign_token(idp.private_key("ES256")))
    stamp, size = path.stat().st_mtime_ns, path.stat().st_size
    with path.open("r+b") as file:
        file.write(b"x" * size)
    os.utime(path, ns=(stamp, stamp))

    assert file_verifier.claims(idp.sign_token(idp.private_key("ES256")))


@pytest.mark.parametrize("content", [None, "", "{", "x" * (_MAX_BYTES + 1)])
def test_broken_file_keeps_its_old_keys_with_one_warning(file_verifier, path, warnings, content):
    assert file_verifier.claims(idp.sign_token(idp.private_key("ES256")))
    if content is None:
        path.unlink()
    else:
        path.write_text(content)

    for _ in range(3):
        assert file_verifier.claims(idp.sign_token(idp.private_key("ES256")))
    assert len(warnings) == 1


def test_tokens_are_rejected_until_the_missing_key_file_exists(file_verifier, path):
    moved = path.rename(path.with_suffix(".later"))
    assert file_verifier.claims(idp.sign_token(idp.private_key("ES256"))) is None
    moved.rename(path)

    assert file_verifier.claims(idp.sign_token(idp.private_key("ES256")))
