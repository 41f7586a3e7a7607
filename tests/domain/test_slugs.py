"""A slug is 3 to 64 plain characters."""

import pytest

from domain import slugs


@pytest.mark.parametrize("slug", ["abc", "robin-vale", "a-1", "123", "---", "-ab", "ab-", "a" * 64])
def test_plain_text_is_a_slug(slug: str) -> None:
    assert slugs.is_valid(slug)


@pytest.mark.parametrize(
    "slug", ["", "ab", "a" * 65, "Abc", "a_b", "a b", "a.b", "abc\n", "\nabc", "äbc", "\u0661\u0662\u0663", "a/b/c"]
)
def test_anything_else_is_not(slug: str) -> None:
    assert not slugs.is_valid(slug)
    assert not slugs.is_valid_strict(slug)


def test_pattern_is_anchored_for_match() -> None:
    assert slugs.PATTERN.match("abc\n") is None


@pytest.mark.parametrize("slug", ["abc", "a-b", "a--b", "a" * 64])
def test_strict_slug_has_hyphens_inside_only(slug: str) -> None:
    assert slugs.is_valid_strict(slug)


@pytest.mark.parametrize("slug", ["-ab", "ab-", "---", "-a-"])
def test_strict_slug_has_no_hyphen_at_an_end(slug: str) -> None:
    assert not slugs.is_valid_strict(slug)


@pytest.mark.parametrize("word", ["api", "admin", "login", "webhooks", "www"])
def test_words_of_the_service_are_reserved(word: str) -> None:
    assert word in slugs.RESERVED


def test_every_reserved_word_could_be_a_slug() -> None:
    assert [word for word in sorted(slugs.RESERVED) if not slugs.is_valid_strict(word)] == []
