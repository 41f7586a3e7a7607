"""Slugs of another service: which can be one here, which only an alias, and what takes their place."""

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
def test_former_slug_is_judged(text, problem, may_be_alias):
    assert former_slugs.check(text) == former_slugs.FormerSlug(text, problem, may_be_alias)


@pytest.mark.parametrize(
    ("text", "first"),
    [("jane_doe", "jane-doe"), ("jane", "jane"), ("Jörg Ek".lower(), "jorg-ek"), ("jo", "jo-2"), ("a" * 70, "a" * 48)],
)
def test_new_slug_resembles_the_former_one(text, first):
    assert former_slugs.list_replacements(text, seed="1")[0] == first


@pytest.mark.parametrize("text", ["admin", "123", "12.34", "李", "--", ""])
def test_new_slug_of_what_leaves_no_name_is_drawn_from_the_text(text):
    found = former_slugs.list_replacements(text, seed="1")

    assert found == former_slugs.list_replacements(text, seed="1") != former_slugs.list_replacements(text, seed="2")
    assert {len(one) for one in found} == {8}
    assert len(set(found)) == 3


@given(st.text(max_size=80).map(str.lower))
def test_new_slugs_are_valid_and_hold_a_letter(text):
    found = former_slugs.list_replacements(text, seed="1")

    assert len(found) >= 3
    for one in found:
        assert slugs.is_valid_strict(one)
        assert one not in slugs.RESERVED
        assert not one.replace("-", "").isdigit()


def test_every_warning_is_a_sentence():
    for code in CODES:
        message = RowWarning(code, "old", "new").message
        assert message.endswith(".")
        assert "{" not in message
    assert len(RowWarning("slug_taken", "x" * 200_000, "new").message) < 300
