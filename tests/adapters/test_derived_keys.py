"""What follows from SECRET_KEY, while it is changed: what the former key made is believed as long as it is listed."""

import hashlib
import os
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest

import settings
from adapters import derived_keys, embed_bearer, file_links, sealing
from adapters.clicks import visitors
from adapters.fraud import human_check
from adapters.identity import tokens

_FORMER, _NEW = os.environ["SECRET_KEY"], "the new key which is long enough too"
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def keys(monkeypatch):
    """Start over with other keys: the one in force, then former ones."""

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


def _opens(link):
    return file_links.is_valid(UUID(int=1), expires=link[0], signature=link[1], now=_NOW)


def _is_person(token):
    return human_check.verify(token, ip="192.0.2.1", about="x", now=_NOW)


def _token():
    return tokens.issue_affiliate(email="a@example.com", is_email_verified=True, ttl_s=60)


_USES = {
    "sealed": (
        lambda: sealing.seal("x", belongs_to="me"),
        lambda made: _unsealed(made) == "x",
    ),
    "file_link": (_link, _opens),
    "embed_token": (
        lambda: embed_bearer.encode(UUID(int=1), 7),
        lambda made: embed_bearer.decode(made) == (UUID(int=1), 7),
    ),
    "human_token": (lambda: human_check.find_local_issuer().issue(now=_NOW), _is_person),
    "person_token": (_token, lambda made: tokens.verify_affiliate(made) is not None),
}


def _unsealed(sealed):
    try:
        return sealing.unseal(sealed, belongs_to="me")
    except sealing.CannotUnseal:
        return None


@pytest.mark.parametrize("use", _USES)
def test_what_a_former_key_made_is_believed_until_that_is_no_longer_listed(keys, use):
    make, is_good = _USES[use]
    made = make()

    keys(_NEW, "x" * 32, _FORMER)
    while_listed, made_anew = is_good(made), make()
    keys(_NEW)

    assert (while_listed, is_good(made), is_good(made_anew)) == (True, False, True)


@pytest.mark.parametrize("use", _USES)
def test_a_process_that_lists_the_next_key_believes_it_before_it_is_in_force(keys, use):
    make, is_good = _USES[use]
    keys(_NEW, _FORMER)
    made = make()

    keys(_FORMER, _NEW)

    assert is_good(made)


def test_whoever_visits_is_somebody_new_to_a_new_key(keys):
    before = visitors.hash_visitor("192.0.2.1", "a browser"), visitors.hash_network("192.0.2.1")
    visitors.hash_network.cache_clear()
    keys(_NEW, _FORMER)
    after = visitors.hash_visitor("192.0.2.1", "a browser"), visitors.hash_network("192.0.2.1")
    visitors.hash_network.cache_clear()

    assert not set(before) & set(after)


def test_keys_follow_from_the_use_and_the_secret(keys):
    # Installations have sealed with this; it cannot change.
    assert derived_keys.current_key("seal") == hashlib.sha256(b"finderfee/seal/" + _FORMER.encode()).digest()
