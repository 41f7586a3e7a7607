"""Which slugs a payment carries. Source: tracking spec, "Attribution parameters" and "Attribution method taxonomy"."""

import pytest

from domain.gateways import referrals
from domain.gateways.facts import Carrier
from domain.gateways.referrals import Claim
from tests.support.rows.link_visits import in_every_form

PARAMETERS = ("pk", "via", "ref", "referrer")


def _slugs(fields):
    return [claim.slug for claim in referrals.list_claims([Carrier("m", fields)], PARAMETERS)]


def test_every_field_that_names_a_slug_claims_in_the_order_of_the_parameters():
    carriers = [
        Carrier("first", {"ref": "c", "VIA": "B", "affiliate_slug": "a", "note": "x"}),
        Carrier("second", {"amp;via": "d"}),
    ]

    assert list(referrals.list_claims(carriers, PARAMETERS)) == [
        Claim("a", "first"), Claim("b", "first"), Claim("c", "first"), Claim("d", "second")
    ]  # fmt: skip


@in_every_form
@pytest.mark.parametrize("key", ["affiliate_slug", "via"])
def test_a_slug_of_a_field_is_read_up_to_what_stands_behind_it(written, key):
    assert _slugs({key: written.format("Jane")}) == ["jane"]


@in_every_form
def test_a_slug_in_a_field_for_any_text_is_read_up_to_what_stands_behind_it(written):
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
def test_a_field_for_any_text_is_an_address_a_query_or_a_slug_alone(text, slugs):
    assert _slugs(referrals.fields_from_text(text)) == slugs


@pytest.mark.parametrize(
    ("text", "slugs"), [("54830", []), ("jane", []), ("54830&via=jane", ["jane"]), ("/via/jane", ["jane"])]
)
def test_a_field_of_numbers_claims_by_a_query_or_an_address_alone(text, slugs):
    assert _slugs(referrals.fields_from_query(text)) == slugs


def test_the_address_of_who_referred_is_not_their_slug():
    assert _slugs({"referrer": "https://news.test/?ref=jane"}) == []
