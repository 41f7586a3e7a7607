"""A slug has 3 to 64 lowercase letters, digits and hyphens."""

import pytest

from domain import slugs
from tests.support.rows.link_visits import with_every_text_around


@pytest.mark.parametrize("slug", ["abc", "robin-vale", "a-1", "123", "---", "-ab", "ab-", "a" * 64])
def test_lowercase_letters_digits_and_hyphens_are_a_slug(slug: str) -> None:
    assert slugs.is_valid(slug)


@pytest.mark.parametrize(
    "slug", ["", "ab", "a" * 65, "Abc", "a_b", "a b", "a.b", "abc\n", "\nabc", "äbc", "\u0661\u0662\u0663", "a/b/c"]
)
def test_other_text_is_not_a_slug(slug: str) -> None:
    assert not slugs.is_valid(slug)
    assert not slugs.is_valid_strict(slug)


def test_pattern_does_not_match_a_trailing_newline() -> None:
    assert slugs.PATTERN.match("abc\n") is None


@pytest.mark.parametrize("slug", ["abc", "a-b", "a--b", "a" * 64])
def test_strict_slug_has_hyphens_inside_only(slug: str) -> None:
    assert slugs.is_valid_strict(slug)


@pytest.mark.parametrize("slug", ["-ab", "ab-", "---", "-a-"])
def test_strict_slug_has_no_hyphen_at_an_end(slug: str) -> None:
    assert not slugs.is_valid_strict(slug)


@pytest.mark.parametrize("word", ["api", "admin", "login", "webhooks", "www"])
def test_service_words_are_reserved(word: str) -> None:
    assert word in slugs.RESERVED


def test_every_reserved_word_is_a_valid_slug() -> None:
    assert [word for word in sorted(slugs.RESERVED) if not slugs.is_valid_strict(word)] == []


@pytest.mark.parametrize("slug", ["54830", "123", "0" * 64, "via", "thanks"])
def test_digits_only_and_reserved_words_are_reserved(slug: str) -> None:
    assert slugs.is_reserved(slug)


@pytest.mark.parametrize("slug", ["54830a", "1-2", "ben", "\u0661\u0662\u0663"])
def test_slug_with_a_letter_or_a_hyphen_is_not_reserved(slug: str) -> None:
    assert not slugs.is_reserved(slug)


@with_every_text_around
def test_text_starting_with_a_slug_is_read_as_that_slug(written: str) -> None:
    assert slugs.read(written.format("Robin-Vale2")) == "robin-vale2"


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("ben%252F", "ben"),
        ("%62en", "ben"),
        ("%2562en", "ben"),
        ("ben%", "ben"),
        ("ben%E0%A4", "ben"),
        ("be\u00adn", "ben"),
        ("jane.doe.", "jane.doe"),
        ("jane__doe_", "jane__doe"),
        ("xn--bn-eka", "xn--bn-eka"),
        ("b\u00e9n", "b"),
        ("ben. Thanks", "ben"),
        ("54830/7", "54830"),
        ("x" * 64 + "/", "x" * 64),
    ],
)
def test_slug_ends_at_the_first_invalid_character(text: str, slug: str) -> None:
    assert slugs.read(text) == slug


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "/ben",
        ".",
        "%",
        "\u200b",
        "<b>",
        "\u043d",
        "x" * 65,
        "two words",
        "ben\n,eva",
        "https://ben.test/",
        "%E0%A4",
    ],
)
def test_text_not_starting_with_a_slug_returns_none(text: str) -> None:
    assert slugs.read(text) is None


@pytest.mark.parametrize(
    ("text", "slug"), [("ben", "ben"), ("ben/).", "ben"), ("order:17", None), ("INV/17", None), ("ben x", None)]
)
def test_slug_followed_by_other_words_is_not_read_alone(text: str, slug: str | None) -> None:
    assert slugs.read_alone(text) == slug


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("Jo.Hn", "jo.hn"),
        ("q", "q"),
        ("j%C3%B6rg", "jörg"),
        ("jo\u0308rg", "jörg"),
        (" jo ", "jo"),
        ("\u200bjo", "jo"),
        ("x" * 190, "x" * 190),
        ("x" * 191, None),
        ("", None),
        (" ", None),
        ("jo\x00", None),
        ("jo%00", None),
        ("jo\n1", None),
        ("\ud800", None),
    ],
)
def test_token_of_a_former_system_is_any_short_text_without_control_characters(text, token) -> None:
    assert slugs.read_token(text) == token


def test_text_may_be_a_token_with_plus_signs_or_begin_with_a_slug() -> None:
    assert slugs.list_spellings("A b") == ["a b", "a+b"]
    assert slugs.list_tokens("Jo@Example.com") == ["jo@example.com", "jo"]
    assert slugs.list_tokens("jo") == ["jo"]
    assert slugs.list_tokens("") == []
