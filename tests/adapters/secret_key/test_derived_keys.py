"""Keys derived from SECRET_KEY during a rotation: what a former key signed is valid as long as that key is listed."""

import hashlib
import os
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest

import settings
from adapters.clicks import visitors
from adapters.fraud import human_check
from adapters.identity import tokens
from adapters.secret_key import derived_keys, embed_bearer, file_links, sealing

_FORMER, _NEW = os.environ["SECRET_KEY"], "the new key which is long enough too"
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def set_keys(monkeypatch):
    """Return a function that sets SECRET_KEY to its first argument and SECRET_KEY_PREVIOUS to the others."""

    def forget() -> None:
        settings.current.cache_clear()
        for module in (derived_keys, sealing, tokens, human_check):
            module.clear_caches()

    def start_with(key: str, *former: str) -> None:
        monkeypatch.setenv("SECRET_KEY", key)
        monkeypatch.setenv("SECRET_KEY_PREVIOUS", ",".join(former))
        forget()

    monkeypatch.setenv("HUMAN_CHECK_URL", "local")
    start_with(_FORMER)
    yield start_with
    monkeypatch.undo()
    forget()


def _link():
    query = parse_qs(urlsplit(file_links.build_url(UUID(int=1), now=_NOW)).query)
    return query["expires"][0], query["signature"][0]


def _is_valid_link(link):
    return file_links.is_valid(UUID(int=1), expires=link[0], signature=link[1], now=_NOW)


def _is_person(token):
    return human_check.verify(token, ip="192.0.2.1", about="x", now=_NOW)


def _token():
    return tokens.issue_affiliate(email="a@example.com", is_email_verified=True, ttl_s=60)


_USES = {
    "sealed": (
        lambda: sealing.seal("x", belongs_to="me"),
        lambda token: _try_unseal(token) == "x",
    ),
    "file_link": (_link, _is_valid_link),
    "embed_token": (
        lambda: embed_bearer.encode(UUID(int=1), 7),
        lambda token: embed_bearer.decode(token) == (UUID(int=1), 7),
    ),
    "human_token": (lambda: human_check.find_local_issuer().issue(now=_NOW), _is_person),
    "person_token": (_token, lambda token: tokens.verify_affiliate(token) is not None),
}


def _try_unseal(sealed):
    try:
        return sealing.unseal(sealed, belongs_to="me")
    except sealing.CannotUnseal:
        return None


@pytest.mark.parametrize("use", _USES)
def test_token_of_a_former_key_is_valid_while_listed(set_keys, use):
    make, is_good = _USES[use]
    token = make()

    set_keys(_NEW, "x" * 32, _FORMER)
    while_listed, new_token = is_good(token), make()
    set_keys(_NEW)

    assert (while_listed, is_good(token), is_good(new_token)) == (True, False, True)


@pytest.mark.parametrize("use", _USES)
def test_token_of_a_listed_next_key_is_valid(set_keys, use):
    make, is_good = _USES[use]
    set_keys(_NEW, _FORMER)
    token = make()

    set_keys(_FORMER, _NEW)

    assert is_good(token)


def test_visitor_hash_changes_with_the_key(set_keys):
    old_hashes = visitors.hash_visitor("192.0.2.1", "a browser"), visitors.hash_network("192.0.2.1")
    visitors.hash_network.cache_clear()
    set_keys(_NEW, _FORMER)
    new_hashes = visitors.hash_visitor("192.0.2.1", "a browser"), visitors.hash_network("192.0.2.1")
    visitors.hash_network.cache_clear()

    assert not set(old_hashes) & set(new_hashes)


def test_key_is_derived_from_use_and_secret(set_keys):
    # Installations have stored data sealed with this key; it cannot change.
    assert derived_keys.current_key("seal") == hashlib.sha256(b"finderfee/seal/" + _FORMER.encode()).digest()
