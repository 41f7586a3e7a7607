"""Stored fields of a visit. Source: tracking spec, "Public click endpoint"."""

import pytest

from domain.clicks import raw_click


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
        ("?a=1&amp;gclid=2&#038;b=3&amp%3Bc=4", ("a", "gclid", "b", "c")),
    ],
)
def test_parameter_names_of_a_url_are_listed_once(url, names):
    assert raw_click.query_names_from_url(url) == names


def test_at_most_50_parameter_names_are_stored():
    assert len(raw_click.query_names_from_url("?" + "&".join(f"p{number}=1" for number in range(200)))) == 50


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
def test_only_the_host_of_a_referrer_is_stored(url, host):
    assert raw_click.host_from_url(url) == host


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
def test_language_tags_keep_the_order_of_the_header(header, tags):
    assert raw_click.languages_from_header(header) == tags


def test_at_most_20_languages_are_stored():
    assert len(raw_click.languages_from_header(",".join(["de"] * 100))) == 20


@pytest.mark.parametrize(("header", "stored"), [("Firefox", "Firefox"), ("a\x00b\nc", "abc"), ("x" * 600, "x" * 512)])
def test_user_agent_is_stored_printable_and_shortened(header, stored):
    assert raw_click.agent_from_header(header) == stored
