"""The address of a tracking link. Source: core spec, "Affiliate" (tracking link)."""

import pytest

from domain import links

_OURS = "https://go.example.com"


@pytest.mark.parametrize(
    ("format", "destination", "shown"),
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
def test_a_link_is_shown_in_its_format(format, destination, shown):
    assert links.url(slug="ben", format=format, destination_url=destination, base_url=_OURS) == shown


def test_a_short_link_whose_slug_is_another_ones_names_its_program():
    shown = [
        links.url(slug="ben", format=format, destination_url="https://shop.test/", base_url=_OURS, program_id="p1")
        for format in ("Short", "Query")
    ]

    assert shown == ["https://go.example.com/r/p1/ben", "https://shop.test/?via=ben"]


@pytest.mark.parametrize(
    ("destination", "sub_id", "site"),
    [
        ("https://shop.test", None, "https://shop.test/?via=ben"),
        ("https://shop.test/a?x=1&y=%20z#part", "mail", "https://shop.test/a?x=1&y=%20z&via=ben&subId=mail#part"),
        ("https://shop.test/?via=old&subId=old", "new", "https://shop.test/?via=ben&subId=new"),
        ("https://shop.test/?subId=theirs", None, "https://shop.test/?subId=theirs&via=ben"),
    ],
)
def test_a_short_link_leads_to_the_site_with_slug_and_tag(destination, sub_id, site):
    assert links.landing(slug="ben", destination_url=destination, sub_id=sub_id) == site


def test_a_format_that_does_not_exist_is_no_link():
    with pytest.raises(ValueError, match="Cookie"):
        links.url(slug="ben", format="Cookie", destination_url="https://shop.test", base_url=_OURS)


@pytest.mark.parametrize(
    ("model", "most"), [("Cps", 20), ("Cpa", 20), ("RevShare", 20), ("Hybrid", 20), ("Cpc", 1), ("Cpl", 1)]
)
def test_only_sale_models_have_room_for_more_links(model, most):
    assert links.most(model) == most
