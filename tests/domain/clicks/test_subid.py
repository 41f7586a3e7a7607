"""A channel tag has one spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.clicks import subid


@pytest.mark.parametrize(
    ("value", "tag"),
    [
        ("newsletter", "newsletter"),
        ("NewsLetter_May-2026.b", "newsletter_may-2026.b"),
        (" spring sale! ", "springsale"),
        ("é日本x", "x"),
        ("a\nb\x00c", "abc"),
        ("A" * 65, "a" * 64),
        ("!" * 100 + "b" * 70, "b" * 64),
    ],
)
def test_tag_is_lower_case_clean_and_short(value: str, tag: str) -> None:
    assert subid.normalize(value) == tag


@pytest.mark.parametrize("value", [None, "", "   ", "!?", "日本"])
def test_nothing_left_is_no_tag(value: str | None) -> None:
    assert subid.normalize(value) is None


@given(st.text())
def test_normalizing_twice_changes_nothing(value: str) -> None:
    once = subid.normalize(value)

    assert subid.normalize(once) == once
