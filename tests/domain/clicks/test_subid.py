"""Sub ids are normalized to one spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.clicks import subid


@pytest.mark.parametrize(
    ("value", "sub_id"),
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
def test_sub_id_is_lowercased_cleaned_and_shortened(value: str, sub_id: str) -> None:
    assert subid.normalize(value) == sub_id


@pytest.mark.parametrize("value", [None, "", "   ", "!?", "日本"])
def test_value_without_valid_characters_is_none(value: str | None) -> None:
    assert subid.normalize(value) is None


@given(st.text())
def test_normalizing_twice_changes_nothing(value: str) -> None:
    normalized = subid.normalize(value)

    assert subid.normalize(normalized) == normalized
