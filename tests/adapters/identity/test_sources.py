"""The keys of a provider: fetched with care, kept, and read again when that is due."""

import json
import os
import threading
import time

import pytest

from adapters.identity import sources
from adapters.identity import tokens as identity
from tests.support.outside import identity_provider as idp

_KEPT_S = 600
_UNKNOWN_KID_S = 60
_RETRY_S = 30
_LARGEST = 256 * 1024


class _Clock:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock():
    """Return a clock that stands still until a test turns it."""
    return _Clock()


@pytest.fixture
def provider():
    """Return a provider that publishes one key of each type."""
    started = idp.Provider(*(idp.public(idp.key(alg)) for alg in ("RS256", "ES256", "EdDSA")))
    yield started
    started.stop()


@pytest.fixture
def verifier(provider, clock):
    """Return a verifier that reads the provider's keys over HTTP."""
    return identity.Verifier(idp.ISSUER, idp.AUDIENCE, sources.PublishedKeys(provider.url, clock=clock))


@pytest.fixture
def said(monkeypatch):
    """Return the warnings that were logged."""
    warnings = []
    monkeypatch.setattr(sources._log, "warning", lambda event, **fields: warnings.append(fields["why"]))
    return warnings


@pytest.mark.parametrize("alg", ["RS256", "ES256", "EdDSA"])
def test_a_published_key_verifies(verifier, alg):
    assert verifier.claims(idp.token(idp.key(alg)))


def test_the_set_is_fetched_once_in_ten_minutes(verifier, provider, clock):
    for clock.now_s in (0, 1, _KEPT_S - 1):
        assert verifier.claims(idp.token(idp.key("ES256")))
    assert len(provider.hits) == 1

    clock.now_s = _KEPT_S
    assert verifier.claims(idp.token(idp.key("ES256")))
    assert len(provider.hits) == 2


def test_a_new_key_is_picked_up_at_once(verifier, provider, clock):
    assert verifier.claims(idp.token(idp.key("ES256")))
    provider.keys = [idp.public(idp.key("ES256", "two"))]
    clock.now_s = 1

    assert verifier.claims(idp.token(idp.key("ES256", "two")))
    assert verifier.claims(idp.token(idp.key("ES256"))) is None


def test_a_withdrawn_key_is_refused_ten_minutes_later(verifier, provider, clock):
    assert verifier.claims(idp.token(idp.key("ES256")))
    provider.keys = []

    clock.now_s = _KEPT_S - 1
    assert verifier.claims(idp.token(idp.key("ES256")))
    clock.now_s = _KEPT_S
    assert verifier.claims(idp.token(idp.key("ES256"))) is None


def test_an_unknown_kid_makes_one_fetch_a_minute(verifier, provider, clock):
    unknown = [idp.token(idp.key("ES256", "two"), kid=f"unknown-{number}") for number in range(20)]
    assert verifier.claims(idp.token(idp.key("ES256")))

    assert [verifier.claims(token) for token in unknown] == [None] * 20
    assert len(provider.hits) == 2
    clock.now_s = _UNKNOWN_KID_S - 1
    assert [verifier.claims(token) for token in unknown] == [None] * 20
    assert len(provider.hits) == 2
    clock.now_s = _UNKNOWN_KID_S
    assert [verifier.claims(token) for token in unknown] == [None] * 20
    assert len(provider.hits) == 3


def test_an_unknown_kid_in_the_first_token_makes_one_fetch(verifier, provider):
    assert verifier.claims(idp.token(idp.key("ES256"), kid="unknown")) is None
    assert len(provider.hits) == 1


@pytest.mark.parametrize("header", [{"kid": ...}, {"alg": "ES256", "kid": "ES256-one"}])
def test_a_bad_signature_makes_no_fetch(verifier, provider, header):
    assert verifier.claims(idp.token(idp.key("ES256")))

    assert verifier.claims(idp.token(idp.key("ES256", "two"), **header)) is None
    assert len(provider.hits) == 1


def test_a_token_that_cannot_be_ours_makes_no_fetch(verifier, provider):
    for text in ("a.b.c", idp.token(idp.secret(b"x" * 32), alg="HS256", kid="unknown"), "x" * 9000):
        assert verifier.claims(text) is None
    assert provider.hits == []


def test_many_threads_with_unknown_kids_make_one_fetch_more(verifier, provider):
    assert verifier.claims(idp.token(idp.key("ES256")))
    tokens = [idp.token(idp.key("ES256"), kid=f"unknown-{number}") for number in range(16)]
    threads = [threading.Thread(target=verifier.claims, args=(token,)) for token in tokens]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(provider.hits) == 2


def test_many_threads_at_the_start_make_one_fetch_and_all_are_let_in(verifier, provider):
    found = []
    token = idp.token(idp.key("ES256"))
    threads = [threading.Thread(target=lambda: found.append(verifier.claims(token))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 16
    assert all(found)
    assert len(provider.hits) == 1


def _break(provider, how: str) -> None:
    if how == "status":
        provider.status = 503
    elif how == "redirect":
        provider.status, provider.headers = 302, {"Location": "/elsewhere"}
    elif how == "large":
        provider.body = json.dumps({"keys": provider.keys, "pad": "x" * _LARGEST}).encode()
    elif how == "truncated":
        provider.headers = {"Transfer-Encoding": "chunked"}
    else:
        provider.body = how.encode()


_BROKEN = ["status", "redirect", "large", "truncated", "", "<html>", "[]", "{}", '{"keys": {}}', '{"keys": null}', "7"]


@pytest.mark.parametrize("how", _BROKEN)
def test_a_provider_that_breaks_keeps_its_old_keys_with_a_warning(verifier, provider, clock, said, how):
    assert verifier.claims(idp.token(idp.key("ES256")))
    _break(provider, how)
    clock.now_s = _KEPT_S

    assert verifier.claims(idp.token(idp.key("ES256")))
    assert verifier.claims(idp.token(idp.key("ES256")))
    assert len(provider.hits) == 2
    assert len(said) == 1


@pytest.mark.parametrize("how", _BROKEN)
def test_a_provider_that_is_broken_from_the_start_lets_nobody_in_until_it_recovers(
    verifier, provider, clock, said, how
):
    _break(provider, how)
    for _ in range(3):
        assert verifier.claims(idp.token(idp.key("ES256"))) is None
    assert provider.hits == ["/jwks.json"]
    assert len(said) == 1

    provider.status, provider.headers, provider.body = 200, {}, None
    clock.now_s = _RETRY_S
    assert verifier.claims(idp.token(idp.key("ES256"), kid=...))


def test_a_provider_that_is_gone_keeps_its_old_keys(provider, clock, said):
    gone = idp.Provider(*provider.keys)
    verifier = identity.Verifier(idp.ISSUER, idp.AUDIENCE, sources.PublishedKeys(gone.url, clock=clock))
    assert verifier.claims(idp.token(idp.key("ES256")))
    gone.stop()

    for clock.now_s in (_KEPT_S, 100 * _KEPT_S):
        assert verifier.claims(idp.token(idp.key("ES256")))
    assert len(said) == 2


def test_while_one_thread_fetches_again_the_others_use_the_old_keys(verifier, provider, clock, monkeypatch):
    assert verifier.claims(idp.token(idp.key("ES256")))
    entered, leave = threading.Event(), threading.Event()
    fetch = sources._fetch

    def slow(url: str) -> bytes:
        entered.set()
        leave.wait(60)
        return fetch(url)

    monkeypatch.setattr(sources, "_fetch", slow)
    clock.now_s = _KEPT_S
    first = threading.Thread(target=verifier.claims, args=(idp.token(idp.key("ES256")),))
    first.start()
    assert entered.wait(60)

    assert verifier.claims(idp.token(idp.key("ES256")))
    assert len(provider.hits) == 1
    leave.set()
    first.join()
    assert len(provider.hits) == 2


def test_a_set_of_the_largest_size_is_read(verifier, provider):
    document = json.dumps({"keys": provider.keys, "pad": ""})
    provider.body = json.dumps({"keys": provider.keys, "pad": "x" * (_LARGEST - len(document))}).encode()

    assert len(provider.body) == _LARGEST
    assert verifier.claims(idp.token(idp.key("ES256")))


def test_proxies_of_the_environment_are_not_used(verifier, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")

    assert verifier.claims(idp.token(idp.key("ES256")))


def _written(path, *keys) -> None:
    before = path.stat().st_mtime_ns if path.exists() else time.time_ns()
    path.write_text(json.dumps({"keys": list(keys)}))
    os.utime(path, ns=(before + 1, before + 1))


@pytest.fixture
def path(tmp_path):
    """Return the file with one key."""
    file = tmp_path / "jwks.json"
    _written(file, idp.public(idp.key("ES256")))
    return file


@pytest.fixture
def filed(path):
    """Return a verifier that reads its keys from the file."""
    return identity.Verifier(idp.ISSUER, idp.AUDIENCE, sources.KeyFile(path))


def test_a_file_is_read_again_when_it_changes(filed, path):
    assert filed.claims(idp.token(idp.key("ES256")))
    _written(path, idp.public(idp.key("ES256", "two")))

    assert filed.claims(idp.token(idp.key("ES256", "two")))
    assert filed.claims(idp.token(idp.key("ES256"))) is None


def test_a_file_that_did_not_change_is_not_read_again(filed, path):
    assert filed.claims(idp.token(idp.key("ES256")))
    stamp, size = path.stat().st_mtime_ns, path.stat().st_size
    with path.open("r+b") as file:
        file.write(b"x" * size)
    os.utime(path, ns=(stamp, stamp))

    assert filed.claims(idp.token(idp.key("ES256")))


@pytest.mark.parametrize("content", [None, "", "{", "x" * (_LARGEST + 1)])
def test_a_file_that_breaks_keeps_its_old_keys_with_one_warning(filed, path, said, content):
    assert filed.claims(idp.token(idp.key("ES256")))
    if content is None:
        path.unlink()
    else:
        path.write_text(content)

    for _ in range(3):
        assert filed.claims(idp.token(idp.key("ES256")))
    assert len(said) == 1


def test_a_file_that_is_not_there_yet_lets_nobody_in_until_it_is(filed, path):
    kept = path.rename(path.with_suffix(".later"))
    assert filed.claims(idp.token(idp.key("ES256"))) is None
    kept.rename(path)

    assert filed.claims(idp.token(idp.key("ES256")))
