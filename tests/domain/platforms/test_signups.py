"""Slugs in a platform's record, and their order. Source: tracking spec, section 8, step 6."""

import pytest

from domain.platforms.signups import SignupRecord, list_slugs
from tests.support.rows.link_visits import with_every_text_around

NAMES, PARAMETERS = ("affiliate_slug", "via"), ("pk", "via", "utm_campaign")


def _slugs(**record):
    return list_slugs(SignupRecord(**record), names=NAMES, parameters=PARAMETERS)


def test_slugs_are_ordered_by_fields_tags_pages_and_utm_fields():
    slugs = _slugs(
        fields={"VIA": "b", "Affiliate_Slug": "a"},
        tags=("via:d", "affiliate_slug: c ", "via:a"),
        addresses=("https://x.example/?via=f&pk=e", "https://y.example/?via=g"),
        marks={"utm_campaign": "h", "utm_source": "never"},
    )
    assert slugs == ["a", "b", "c", "d", "e", "f", "g", "h"]


@pytest.mark.parametrize("text", ["", " ", "two words", "x" * 65, "jane\n,bob", "<b>", "жанна"])
def test_invalid_slug_is_skipped(text):
    assert _slugs(fields={"via": text}) == []


@with_every_text_around
def test_slug_is_read_without_trailing_text(written):
    text = written.format("jane")

    assert _slugs(fields={"via": text}) == _slugs(tags=(f"via:{text}",)) == _slugs(marks={"pk": text}) == ["jane"]


def test_path_and_parameters_of_a_url_give_slugs():
    assert _slugs(addresses=("https://x.example/via/jane?via=eva&pk=ben",)) == ["ben", "eva", "jane"]


def test_spaces_around_a_slug_are_ignored():
    assert _slugs(fields={"via": " jane\n"}) == ["jane"]


@pytest.mark.parametrize("address", ["", "nonsense", "http://[", "?via=", "https://x.example/" + "?a=1" * 500])
def test_url_without_a_slug_gives_none(address):
    assert _slugs(addresses=(address,)) == []
