"""Which slugs a platform's record names, and in which order. Source: tracking spec, section 8, step 6."""

import pytest

from domain.platforms.signups import SignupRecord, list_slugs
from tests.support.rows.link_visits import in_every_form

NAMES, PARAMETERS = ("affiliate_slug", "via"), ("pk", "via", "utm_campaign")


def _slugs(**record):
    return list_slugs(SignupRecord(**record), names=NAMES, parameters=PARAMETERS)


def test_fields_then_tags_then_pages_then_utm_fields_each_once():
    found = _slugs(
        fields={"VIA": "b", "Affiliate_Slug": "a"},
        tags=("via:d", "affiliate_slug: c ", "via:a"),
        addresses=("https://x.example/?via=f&pk=e", "https://y.example/?via=g"),
        marks={"utm_campaign": "h", "utm_source": "never"},
    )
    assert found == ["a", "b", "c", "d", "e", "f", "g", "h"]


@pytest.mark.parametrize("said", ["", " ", "two words", "x" * 65, "jane\n,bob", "<b>", "жанна"])
def test_what_could_not_be_a_slug_is_passed_over(said):
    assert _slugs(fields={"via": said}) == []


@in_every_form
def test_a_slug_is_read_up_to_what_stands_behind_it(written):
    text = written.format("jane")

    assert _slugs(fields={"via": text}) == _slugs(tags=(f"via:{text}",)) == _slugs(marks={"pk": text}) == ["jane"]


def test_the_path_of_an_address_names_a_slug_and_each_of_its_parameters_may():
    assert _slugs(addresses=("https://x.example/via/jane?via=eva&pk=ben",)) == ["ben", "eva", "jane"]


def test_the_space_around_a_slug_does_not_count():
    assert _slugs(fields={"via": " jane\n"}) == ["jane"]


@pytest.mark.parametrize("address", ["", "nonsense", "http://[", "?via=", "https://x.example/" + "?a=1" * 500])
def test_an_address_that_says_nothing_names_nobody(address):
    assert _slugs(addresses=(address,)) == []
