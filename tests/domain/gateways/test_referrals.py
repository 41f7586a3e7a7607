"""Slugs carried by a payment. Source: tracking spec, "Attribution parameters" and "Attribution method taxonomy"."""

import pytest

from domain.gateways import referrals
from domain.gateways.facts import Carrier
from domain.gateways.referrals import Claim
from tests.support.rows.link_visits import with_every_text_around

PARAMETERS = ("pk", "via", "ref", "referrer")


def _slugs(fields):
    claims = referrals.list_claims([Carrier("m", fields)], PARAMETERS)
    return [claim.slug for claim in claims if claim.may_be != "token"]


def test_claims_are_listed_in_the_order_of_the_parameters():
    carriers = [
        Carrier("first", {"ref": "c", "VIA": "B", "affiliate_slug": "a", "note": "x"}),
        Carrier("second", {"amp;via": "d"}),
    ]

    assert list(referrals.list_claims(carriers, PARAMETERS)) == [
        Claim("a", "first"), Claim("b", "first"), Claim("c", "first"), Claim("d", "second")
    ]  # fmt: skip


@with_every_text_around
@pytest.mark.parametrize("key", ["affiliate_slug", "via"])
def test_slug_in_a_field_is_read_without_trailing_text(written, key):
    assert _slugs({key: written.format("Jane")}) == ["jane"]


@with_every_text_around
def test_slug_in_a_free_text_field_is_read_without_trailing_text(written):
    assert _slugs(referrals.fields_from_text(written.format("Jane"))) == ["jane"]


@pytest.mark.parametrize(
    ("text", "slugs"),
    [
        ("via=jane", ["jane"]),
        ("x=1&amp;via=jane", ["jane"]),
        ("?via=jane.", ["jane"]),
        ("https://shop.test/mug?via=jane", ["jane"]),
        ("https://shop.test/via/jane", ["jane"]),
        ("/via/jane?ref=eva", ["eva", "jane"]),
        ("shop.test/via/jane", ["jane"]),
        ("mugs?via=jane", ["jane", "mugs"]),
        ("https://shop.test/", []),
        ("order 17", []),
        ("order:17", []),
        ("INV/2026/17", []),
        ("", []),
    ],
)
def test_free_text_field_is_read_as_url_query_or_slug(text, slugs):
    assert _slugs(referrals.fields_from_text(text)) == slugs


@pytest.mark.parametrize(
    ("text", "slugs"), [("54830", []), ("jane", []), ("54830&via=jane", ["jane"]), ("/via/jane", ["jane"])]
)
def test_numeric_field_is_read_only_as_url_or_query(text, slugs):
    assert _slugs(referrals.fields_from_query(text)) == slugs


def test_number_in_a_gateways_own_field_is_no_token_of_a_former_system():
    fields = referrals.fields_from_text("54830")

    assert list(referrals.list_claims([Carrier("m", fields)], PARAMETERS)) == [Claim("54830", "m", may_be="slug")]


def test_whole_text_is_claimed_as_a_token_before_the_slug_at_its_start():
    claims = referrals.list_claims([Carrier("m", {"via": "Jo@Example.com"})], PARAMETERS)

    assert list(claims) == [Claim("jo@example.com", "m", may_be="token"), Claim("jo", "m")]


def test_referrer_url_is_not_a_slug():
    assert _slugs({"referrer": "https://news.test/?ref=jane"}) == []
