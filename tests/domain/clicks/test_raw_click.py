"""What a click carries, and that it arrives as it was sent. Source: tracking spec, "Public click endpoint"."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.clicks import raw_click
from domain.clicks.raw_click import RawClick

_TEXT = st.text(max_size=20)
_LIST = st.lists(_TEXT, max_size=4).map(tuple)
_CLICK = RawClick("id", "org", "program", "affiliate", "ben", None, "2026-01-01T00:00:00+00:00", "aa", "bb", "Firefox")


@given(
    st.builds(
        RawClick,
        **dict.fromkeys(("id", "organization_id", "program_id", "affiliate_id", "slug"), _TEXT),
        **dict.fromkeys(("occurred_at", "visitor", "network", "agent"), _TEXT),
        **{name: st.none() | _TEXT for name in ("sub_id", "referrer_host", "visitor_id")},
        **{name: st.booleans() for name in ("is_bot", "is_data_centre")},
        query_names=_LIST,
        languages=_LIST,
    )
)
def test_a_click_arrives_as_it_was_sent(click):
    assert raw_click.from_bytes(raw_click.to_bytes(click)) == click


@pytest.mark.parametrize("sent", [b"", b"{", b"[]", b"null", b"7", b'"x"', b"{}", b"\xff", b"[" * 100_000])
def test_what_is_no_click_is_told(sent):
    with pytest.raises(ValueError):  # noqa: PT011  # whatever it says
        raw_click.from_bytes(sent)


@pytest.mark.parametrize(
    "change",
    [{"id": 1}, {"slug": None}, {"sub_id": 7}, {"is_bot": 1}, {"query_names": "via"}, {"languages": [1]}, {"more": 1}],
    ids=str,
)
def test_a_click_with_a_part_of_another_kind_is_none(change):
    sent = json.loads(raw_click.to_bytes(_CLICK)) | change

    with pytest.raises(ValueError, match="not a click"):
        raw_click.from_bytes(json.dumps(sent).encode())


def test_a_click_that_lacks_a_part_is_none():
    sent = json.loads(raw_click.to_bytes(_CLICK))
    del sent["visitor"]

    with pytest.raises(ValueError, match="not a click"):
        raw_click.from_bytes(json.dumps(sent).encode())


@pytest.mark.parametrize(
    ("url", "names"),
    [
        ("https://shop.test/", ()),
        ("https://shop.test/?a=1&b=2&a=3#c=4", ("a", "b")),
        ("https://shop.test/?a&=x&&%62=1&c+d=1", ("a", "b", "c d")),
        ("https://shop.test/?%00=1&a%0a=2&ok=3", ("ok",)),
        (f"?{'x' * 100}=1", ("x" * 64,)),
        ("no address", ()),
        ("http://[", ()),
    ],
)
def test_the_names_of_an_addresss_parameters_once_each(url, names):
    assert raw_click.query_names(url) == names


def test_at_most_fifty_names_are_kept():
    assert len(raw_click.query_names("?" + "&".join(f"p{number}=1" for number in range(200)))) == 50


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://shop.test/?ref=ben&via=ann", "ann"),
        ("https://shop.test/?ref=ben", "ben"),
        ("https://shop.test/?via=&ref=ben", "ben"),
        ("https://shop.test/?via=%20&ref=ben", "ben"),
        ("https://shop.test/?via=first&via=second", "first"),
        ("https://shop.test/?VIA=ann", None),
        ("https://shop.test/#via=ann", None),
        ("http://[?via=ann", None),
        ("", None),
    ],
)
def test_the_first_parameter_in_order_that_says_something_counts(url, found):
    assert raw_click.first_parameter(url, ["via", "ref"]) == found


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://News.Example.com:8443/a", "news.example.com"),
        ("https://user:secret@example.com/", "example.com"),
        ("android-app://com.example.mail/", "com.example.mail"),
        ("about:blank", None),
        ("no address", None),
        ("http://[", None),
        (f"https://{'x' * 300}/", "x" * 253),
    ],
)
def test_of_a_referrer_the_host_is_kept(url, host):
    assert raw_click.host(url) == host


@pytest.mark.parametrize(
    ("header", "tags"),
    [
        ("de-CH, de;q=0.9, en;q=0.8", ("de-CH", "de", "en")),
        ("", ()),
        ("*", ()),
        (" ,;q=1,de", ("de",)),
        ("dé, x" + "y" * 40, ()),
    ],
)
def test_languages_are_tags_in_the_order_sent(header, tags):
    assert raw_click.languages(header) == tags


def test_at_most_twenty_languages_are_kept():
    assert len(raw_click.languages(",".join(["de"] * 100))) == 20


@pytest.mark.parametrize(("sent", "kept"), [("Firefox", "Firefox"), ("a\x00b\nc", "abc"), ("x" * 600, "x" * 512)])
def test_an_agent_is_kept_printable_and_cut(sent, kept):
    assert raw_click.agent(sent) == kept
