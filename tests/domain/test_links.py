"""The address of a tracking link. Source: core spec, "Affiliate" (tracking link)."""

import pytest

from domain import links

_BASE_URL = "https://go.example.com"


@pytest.mark.parametrize(
    ("format", "destination", "expected"),
    [
        ("Short", "https://shop.test/", "https://go.example.com/r/ben"),
        ("Short", None, "https://go.example.com/r/ben"),
        ("Query", None, "https://go.example.com/r/ben"),
        ("Path", "", "https://go.example.com/r/ben"),
        ("Query", "https://shop.test", "https://shop.test/?via=ben"),
        ("Query", "https://shop.test/a?x=1&y=%20z#part", "https://shop.test/a?x=1&y=%20z&via=ben#part"),
        ("Query", "https://shop.test/?via=old&x=1", "https://shop.test/?x=1&via=ben"),
        ("Query", "https://shop.test/?viable=1", "https://shop.test/?viable=1&via=ben"),
        ("Path", "https://shop.test", "https://shop.test/via/ben"),
        ("Path", "https://shop.test/a/?x=1", "https://shop.test/a/via/ben?x=1"),
        ("Hash", "https://shop.test/a?x=1", "https://shop.test/a?x=1#via=ben"),
        ("Hash", "https://shop.test/#/route", "https://shop.test/#/route&via=ben"),
    ],
)
def test_link_url_follows_its_format(format, destination, expected):
    assert links.url(slug="ben", format=format, destination_url=destination, base_url=_BASE_URL) == expected


def test_short_link_with_an_ambiguous_slug_contains_the_program_id():
    urls = [
        links.url(slug="ben", format=format, destination_url="https://shop.test/", base_url=_BASE_URL, program_id="p1")
        for format in ("Short", "Query")
    ]

    assert urls == ["https://go.example.com/r/p1/ben", "https://shop.test/?via=ben"]


@pytest.mark.parametrize(
    ("destination", "sub_id", "site"),
    [
        ("https://shop.test", None, "https://shop.test/?via=ben"),
        ("https://shop.test/a?x=1&y=%20z#part", "mail", "https://shop.test/a?x=1&y=%20z&via=ben&subId=mail#part"),
        ("https://shop.test/?via=old&subId=old", "new", "https://shop.test/?via=ben&subId=new"),
        ("https://shop.test/?subId=theirs", None, "https://shop.test/?subId=theirs&via=ben"),
    ],
)
def test_landing_url_has_the_slug_and_the_sub_id(destination, sub_id, site):
    assert links.landing_url(slug="ben", destination_url=destination, sub_id=sub_id) == site


def test_unknown_link_format_is_refused():
    with pytest.raises(ValueError, match="Cookie"):
        links.url(slug="ben", format="Cookie", destination_url="https://shop.test", base_url=_BASE_URL)


@pytest.mark.parametrize(
    ("model", "max_links"), [("Cps", 20), ("Cpa", 20), ("RevShare", 20), ("Hybrid", 20), ("Cpc", 1), ("Cpl", 1)]
)
def test_only_sale_models_allow_several_links(model, max_links):
    assert links.max_links(model) == max_links


@pytest.mark.parametrize(
    ("address", "slugs"),
    [
        ("https://shop.test/?ref=ben&via=ann", ["ann", "ben"]),
        ("https://shop.test/?ref=ben", ["ben"]),
        ("https://shop.test/?via=&ref=ben", ["ben"]),
        ("https://shop.test/?via=%20&ref=ben", ["ben"]),
        ("https://shop.test/?via=ben&ref=BEN", ["ben"]),
        ("https://shop.test/?via=first&via=second", ["first"]),
        ("https://shop.test/?VIA=ann", ["ann"]),
        ("https://shop.test/?x=1&amp;via=ann", ["ann"]),
        ("https://shop.test/?x=1&#038;via=ann", ["ann"]),
        ("https://shop.test/?x=1&amp%3Bvia=ann", ["ann"]),
        ("https://shop.test/?referrer=https%3A%2F%2Fshop.test%2F%3Fvia%3Dann", []),
        ("https://shop.test/via/ann", ["ann"]),
        ("/products/Via/Ann/?ref=ben", ["ben", "ann"]),
        ("https://shop.test/via/ann).", ["ann"]),
        ("https://shop.test/via/%E2%80%8Bann&utm_source=x", ["ann"]),
        ("https://shop.test/via//ann", []),
        ("https://shop.test/viable/ann", []),
        ("https://shop.test/#via=ann", ["ann"]),
        ("https://shop.test/#/home?via=ann", ["ann"]),
        ("https://shop.test/#/via/ann", ["ann"]),
        ("http://[?via=ann", []),
        ("", []),
        (None, []),
        (7, []),
    ],
)
def test_slugs_of_a_url_are_ordered_by_parameter_with_the_path_last(address, slugs):
    assert links.slugs_from_url(address, ["via", "ref", "referrer"]) == slugs


@pytest.mark.parametrize(
    ("query", "forwarded"),
    [
        ("utm_source=x&gclid=A_b-1.%2F", ["utm_source=x", "gclid=A_b-1.%2F"]),
        ("a=1&amp;b=2&#038;c=3", ["a=1", "b=2", "c=3"]),
        ("flag&a=&=x&&", ["flag", "a="]),
        ("VIA=eva&via=eva&%76ia=eva&amp;via=eva&ok=1", ["ok=1"]),
        ("a=%0d%0aX:%201&b%00=1&ok=1", ["ok=1"]),
        ("a=\r\nX: 1&ok=1", ["ok=1"]),
        ('q="<b>&ok=\u00fc', ["q=%22%3Cb%3E", "ok=%C3%BC"]),
        ("ok=\udcff", ["ok=%FF"]),
        (f"ok=1&long={'x' * 4000}&after=1", ["ok=1"]),
    ],
)
def test_reserved_and_dangerous_parameters_are_not_forwarded(query, forwarded):
    assert links.list_forwardable(query, reserved={"via"}) == forwarded


def test_at_most_100_parameters_are_forwarded():
    query = "&".join(f"p{number}=1" for number in range(150))

    assert len(links.list_forwardable(query, reserved=())) == 100


def test_forwarded_parameter_does_not_replace_a_destination_parameter():
    site = links.landing_url(
        slug="ben",
        destination_url="https://shop.test/a?x=own&%79=own#part",
        sub_id="mail",
        forwarded=["x=theirs", "y=theirs", "X=other", "z=1", "z=2"],
    )

    assert site == "https://shop.test/a?x=own&%79=own&X=other&z=1&z=2&via=ben&subId=mail#part"
