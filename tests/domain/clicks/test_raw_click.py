"""What is kept of a visit. Source: tracking spec, "Public click endpoint"."""

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
def test_the_names_of_an_addresss_parameters_once_each(url, names):
    assert raw_click.query_names_from_url(url) == names


def test_at_most_fifty_names_are_kept():
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
def test_of_a_referrer_the_host_is_kept(url, host):
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
def test_languages_are_tags_in_the_order_sent(header, tags):
    assert raw_click.languages_from_header(header) == tags


def test_at_most_twenty_languages_are_kept():
    assert len(raw_click.languages_from_header(",".join(["de"] * 100))) == 20


@pytest.mark.parametrize(("sent", "kept"), [("Firefox", "Firefox"), ("a\x00b\nc", "abc"), ("x" * 600, "x" * 512)])
def test_an_agent_is_kept_printable_and_cut(sent, kept):
    assert raw_click.agent_from_header(sent) == kept
