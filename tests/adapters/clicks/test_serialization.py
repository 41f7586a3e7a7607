"""Clicks survive serialization, and malformed ones are rejected. Source: tracking spec, "Public click endpoint"."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.clicks import serialization
from domain.clicks.raw_click import RawClick

_TEXT = st.text(max_size=20)
_LIST = st.lists(_TEXT, max_size=4).map(tuple)
_CLICK = RawClick("id", "org", "program", "affiliate", "ben", None, "2026-01-01T00:00:00+00:00", "aa", "bb", "Firefox")


@given(
    st.builds(
        RawClick,
        **dict.fromkeys(("id", "organization_id", "program_id", "affiliate_id", "slug"), _TEXT),
        **dict.fromkeys(("occurred_at", "visitor", "network", "agent"), _TEXT),
        **{name: st.none() | _TEXT for name in ("sub_id", "referrer_host", "visitor_id", "country")},
        **{name: st.booleans() for name in ("is_bot", "is_data_centre")},
        query_names=_LIST,
        languages=_LIST,
    )
)
def test_click_is_unchanged_after_a_round_trip(click):
    assert serialization.from_bytes(serialization.to_bytes(click)) == click


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"7", b'"x"', b"{}", b"\xff", b"[" * 100_000])
def test_malformed_bytes_raise_value_error(data):
    with pytest.raises(ValueError):  # noqa: PT011  # any message
        serialization.from_bytes(data)


@pytest.mark.parametrize(
    "change",
    [{"id": 1}, {"slug": None}, {"sub_id": 7}, {"is_bot": 1}, {"query_names": "via"}, {"languages": [1]}],
    ids=str,
)
def test_wrongly_typed_field_raises_value_error(change):
    fields = json.loads(serialization.to_bytes(_CLICK)) | change

    with pytest.raises(ValueError, match="not a click"):
        serialization.from_bytes(json.dumps(fields).encode())


def test_missing_field_raises_value_error():
    fields = json.loads(serialization.to_bytes(_CLICK))
    del fields["visitor"]

    with pytest.raises(ValueError, match="not a click"):
        serialization.from_bytes(json.dumps(fields).encode())


def test_click_from_the_previous_release_has_no_country():
    fields = json.loads(serialization.to_bytes(_CLICK))
    del fields["country"]

    assert serialization.from_bytes(json.dumps(fields).encode()) == _CLICK


def test_unknown_field_is_ignored():
    fields = json.loads(serialization.to_bytes(_CLICK)) | {"more": 1, "later": {"version": 2}}

    assert serialization.from_bytes(json.dumps(fields).encode()) == _CLICK


@pytest.mark.parametrize("name", list(RawClick._field_defaults))
def test_absent_optional_field_gets_its_default(name):
    fields = json.loads(serialization.to_bytes(_CLICK))
    del fields[name]

    assert serialization.from_bytes(json.dumps(fields).encode()) == _CLICK
