"""Slugs of another service: valid slugs, possible aliases, and replacements."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import slugs
from domain.imports import former_slugs
from domain.imports.warnings import CODES, RowWarning


@pytest.mark.parametrize(
    ("text", "problem", "may_be_alias"),
    [
        ("jane", None, False),
        ("jane-doe", None, False),
        ("jane_doe", "slug_invalid", True),
        ("jane.doe", "slug_invalid", True),
        ("jo", "slug_invalid", False),
        ("admin", "slug_reserved", False),
        ("_jane", "slug_invalid", False),
        ("jane.", "slug_invalid", False),
        ("12.34", "slug_invalid", False),
        ("jane doe", "slug_invalid", False),
        ("jane/doe", "slug_invalid", False),
        ("über", "slug_invalid", False),
        ("j_" + "x" * 62, "slug_invalid", True),
        ("j_" + "x" * 63, "slug_invalid", False),
    ],
)
def test_former_slug_is_valid_an_alias_or_refused(text, problem, may_be_alias):
    assert former_slugs.check(text) == former_slugs.FormerSlug(text, problem, may_be_alias)


@pytest.mark.parametrize(
    ("text", "first"),
    [("jane_doe", "jane-doe"), ("jane", "jane"), ("Jörg Ek".lower(), "jorg-ek"), ("jo", "jo-2"), ("a" * 70, "a" * 48)],
)
def test_replacement_resembles_the_former_slug(text, first):
    assert former_slugs.list_replacements(text, seed="1")[0] == first


@pytest.mark.parametrize("text", ["admin", "123", "12.34", "李", "--", ""])
def test_replacement_of_an_unusable_slug_is_derived_from_text_and_seed(text):
    replacements = former_slugs.list_replacements(text, seed="1")

    assert (
        replacements == former_slugs.list_replacements(text, seed="1") != former_slugs.list_replacements(text, seed="2")
    )
    assert {len(slug) for slug in replacements} == {8}
    assert len(set(replacements)) == 3


@given(st.text(max_size=80).map(str.lower))
def test_replacements_are_valid_and_contain_a_letter(text):
    replacements = former_slugs.list_replacements(text, seed="1")

    assert len(replacements) >= 3
    for slug in replacements:
        assert slugs.is_valid_strict(slug)
        assert slug not in slugs.RESERVED
        assert not slug.replace("-", "").isdigit()


def test_every_warning_has_a_short_sentence():
    for code in CODES:
        message = RowWarning(code, "old", "new").message
        assert message.endswith(".")
        assert "{" not in message
    assert len(RowWarning("slug_taken", "x" * 200_000, "new").message) < 300
