"""Signed links to private files. Source: core spec, "Affiliate" (tax form, 300 seconds, not single-use)."""

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest

from adapters.secret_key import file_links

_FILE, _OTHER = UUID(int=1), UUID(int=2)
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


def _parts(file_id=_FILE):
    query = parse_qs(urlsplit(file_links.build_url(file_id, now=_NOW)).query)
    return query["expires"][0], query["signature"][0]


def _is_valid(expires, signature, *, file_id=_FILE, after_s=0):
    return file_links.is_valid(file_id, expires=expires, signature=signature, now=_NOW + timedelta(seconds=after_s))


@pytest.mark.parametrize(("after_s", "is_good"), [(0, True), (299, True), (300, False), (3600, False)])
def test_link_expires_after_300_seconds(after_s, is_good):
    assert _is_valid(*_parts(), after_s=after_s) is is_good


def test_link_names_its_expiry_and_file():
    url = urlsplit(file_links.build_url(_FILE, now=_NOW))

    assert url.path == f"/api/files/{_FILE}"
    assert _parts()[0] == str(int(_NOW.timestamp()) + 300)


def test_link_is_invalid_for_another_file():
    assert not _is_valid(*_parts(), file_id=_OTHER)


def test_later_expiry_invalidates_the_signature():
    expires, signature = _parts()

    assert not _is_valid(str(int(expires) + 1), signature)


@pytest.mark.parametrize("expires", ["", "x", "-1", "1e9", "٣", " 1", "9" * 5000])  # Arabic digit
def test_malformed_expiry_is_rejected(expires):
    assert not _is_valid(expires, _parts()[1])


@pytest.mark.parametrize("signature", ["", "x", "é", "\ud800", "0" * 64])
def test_wrong_signature_is_rejected(signature):
    assert not _is_valid(_parts()[0], signature)
