"""Addresses of one inbox are one text."""

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
    ],
)
def test_address_is_reduced_to_its_inbox(email: str, inbox: str) -> None:
    assert emails.normalize(email) == inbox


@pytest.mark.parametrize(("text", "same"), [("", ""), ("  Not an Address ", "not an address"), ("a+b", "a+b")])
def test_text_without_an_at_is_only_lowered(text: str, same: str) -> None:
    assert emails.normalize(text) == same


@given(st.text())
def test_no_text_can_raise(text: str) -> None:
    assert isinstance(emails.normalize(text), str)
