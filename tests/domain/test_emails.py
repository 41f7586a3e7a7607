"""Addresses of the same inbox normalize to the same text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import emails


@pytest.mark.parametrize(
    ("email", "inbox"),
    [
        ("robin@example.com", "robin@example.com"),
        ("  Robin@Example.COM\n", "robin@example.com"),
        ("robin+shop@example.com", "robin@example.com"),
        ("robin+a+b@example.com", "robin@example.com"),
        ("r.o.bin@example.com", "r.o.bin@example.com"),
        ("R.o.bin+x@Gmail.com", "robin@gmail.com"),
        ("robin@googlemail.com", "robin@gmail.com"),
        ("ro.bin+x@googlemail.com", "robin@gmail.com"),
        ("robin@mail.gmail.com", "robin@mail.gmail.com"),
        ('"a@b"@example.com', '"a@b"@example.com'),
        ("+news@example.com", "+news@example.com"),
        ("a@xn--bcher-kva.example", "a@bücher.example"),
        ("A+x@mail.XN--BCHER-KVA.example", "a@mail.bücher.example"),
        ("a@B\u00dcCHER.example", "a@bücher.example"),
        ("a@bu\u0308cher.example", "a@bücher.example"),
        ("a@xn--.example", "a@xn--.example"),
        ("a@xn--\u00fc.example", "a@xn--ü.example"),
        ("a@xn--99999999.example", "a@xn--99999999.example"),
    ],
)
def test_address_is_reduced_to_its_inbox(email: str, inbox: str) -> None:
    assert emails.normalize(email) == inbox


@pytest.mark.parametrize(("text", "normalized"), [("", ""), ("  Not an Address ", "not an address"), ("a+b", "a+b")])
def test_text_without_an_at_sign_is_only_trimmed_and_lowercased(text: str, normalized: str) -> None:
    assert emails.normalize(text) == normalized


@given(st.text("abc-0189ü\ud800"))
def test_encoded_domain_never_raises_or_gives_a_nul_character(text: str) -> None:
    normalized = emails.normalize(f"a@xn--{text}.example")
    assert "\x00" not in normalized
    assert text.isprintable() <= normalized.isprintable()


@given(st.text())
def test_normalize_never_raises(text: str) -> None:
    assert isinstance(emails.normalize(text), str)
