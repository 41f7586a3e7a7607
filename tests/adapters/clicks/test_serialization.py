"""A click arrives as it was sent, and what is none is told. Source: tracking spec, "Public click endpoint"."""

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
def test_a_click_arrives_as_it_was_sent(click):
    assert serialization.from_bytes(serialization.to_bytes(click)) == click


@pytest.mark.parametrize("sent", [b"", b"{", b"[]", b"null", b"7", b'"x"', b"{}", b"\xff", b"[" * 100_000])
def test_what_is_no_click_is_told(sent):
    with pytest.raises(ValueError):  # noqa: PT011  # whatever it says
        serialization.from_bytes(sent)


@pytest.mark.parametrize(
    "change",
    [{"id": 1}, {"slug": None}, {"sub_id": 7}, {"is_bot": 1}, {"query_names": "via"}, {"languages": [1]}],
    ids=str,
)
def test_a_click_with_a_part_of_another_kind_is_none(change):
    sent = json.loads(serialization.to_bytes(_CLICK)) | change

    with pytest.raises(ValueError, match="not a click"):
        serialization.from_bytes(json.dumps(sent).encode())


def test_a_click_that_lacks_a_part_is_none():
    sent = json.loads(serialization.to_bytes(_CLICK))
    del sent["visitor"]

    with pytest.raises(ValueError, match="not a click"):
        serialization.from_bytes(json.dumps(sent).encode())


def test_a_click_of_the_release_before_has_no_country():
    sent = json.loads(serialization.to_bytes(_CLICK))
    del sent["country"]

    assert serialization.from_bytes(json.dumps(sent).encode()) == _CLICK


def test_field_of_a_newer_release_is_ignored():
    sent = json.loads(serialization.to_bytes(_CLICK)) | {"more": 1, "later": {"version": 2}}

    assert serialization.from_bytes(json.dumps(sent).encode()) == _CLICK


@pytest.mark.parametrize("name", list(RawClick._field_defaults))
def test_absent_field_with_a_default_gets_it(name):
    sent = json.loads(serialization.to_bytes(_CLICK))
    del sent[name]

    assert serialization.from_bytes(json.dumps(sent).encode()) == _CLICK
