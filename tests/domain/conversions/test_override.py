"""A recruiter earns a rounded share of the recruit's commission under its own event id."""

from decimal import Decimal
from uuid import UUID

import pytest

from domain.conversions import override

RECRUITER = UUID("0123ABCD-4567-89ef-0123-456789ABCDEF")


@pytest.mark.parametrize(
    ("commission_cents", "percent", "share_cents"),
    [
        (980, "10", 98),
        (25, "10", 2),
        (35, "10", 4),
        (4, "10", 0),
        (5, "10", 0),
        (6, "10", 1),
        (333, "33.33", 111),
        (500, "0", 0),
        (500, "100", 500),
    ],
)
def test_share_rounds_half_to_even(commission_cents: int, percent: str, share_cents: int) -> None:
    assert override.share_cents(commission_cents=commission_cents, percent=Decimal(percent)) == share_cents


def test_event_id_contains_parent_id_and_recruiter_id() -> None:
    event_id = override.external_event_id(parent_external_event_id="order_1", recruiter_id=RECRUITER)

    assert event_id == "order_1:override:0123abcd456789ef0123456789abcdef"


def test_parent_id_of_200_characters_is_not_hashed() -> None:
    event_id = override.external_event_id(parent_external_event_id="é" * 200, recruiter_id=RECRUITER)

    assert event_id == "é" * 200 + ":override:0123abcd456789ef0123456789abcdef"


def test_parent_id_over_200_characters_is_hashed() -> None:
    event_id = override.external_event_id(parent_external_event_id="a" * 201, recruiter_id=RECRUITER)

    assert event_id == (
        "sha256:a92efd82109373e58f9a2056dee01e807e216ce6075f7051207c0a9f7d666e50"
        ":override:0123abcd456789ef0123456789abcdef"
    )


def test_long_parent_id_is_hashed_by_its_utf_8_bytes() -> None:
    event_id = override.external_event_id(parent_external_event_id="é" * 201, recruiter_id=RECRUITER)

    assert event_id == (
        "sha256:3821f1b32e730d3a6b5bd3720b9df60d5cb1b9f5731fff576d7f3cc81aae5579"
        ":override:0123abcd456789ef0123456789abcdef"
    )


@pytest.mark.parametrize(
    ("parent_status", "status"),
    [
        ("Pending", "Pending"),
        ("Approved", "Pending"),
        ("Paid", "Pending"),
        ("Refunded", "Pending"),
        ("Denied", "Denied"),
        ("Invalidated", "Invalidated"),
    ],
)
def test_override_starts_denied_or_invalidated_only_with_its_parent(parent_status: str, status: str) -> None:
    assert override.initial_status(parent_status) == status


def test_unknown_parent_status_is_refused() -> None:
    with pytest.raises(ValueError, match="Vanished"):
        override.initial_status("Vanished")
