"""The names by which a program knows a buyer."""

import pytest

from domain.conversions import customers


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({"customer_id": "cus_1", "email": "A+x@b.test"}, ("id:cus_1", "of::cus_1", "email:a@b.test")),
        ({"customer_id": "cus_1", "email": None, "gateway": "stripe"}, ("id:cus_1", "of:stripe:cus_1", None)),
        ({"customer_id": None, "email": "A+x@b.test"}, (None, None, "email:a@b.test")),
        ({"customer_id": "", "email": ""}, (None, None, None)),
    ],
)
def test_buyer_has_a_name_by_id_and_one_by_inbox(known, expected):
    names = customers.names(**known, is_test=False)

    assert (names.id_name, names.other_name, names.email_name) == expected
    assert names.is_known == any(expected)


def test_buyers_of_test_sales_have_names_of_their_own():
    names = customers.names(customer_id="cus_1", email="a@b.test", is_test=True)

    assert (names.id_name, names.other_name, names.email_name) == (
        "test-id:cus_1",
        "test-of::cus_1",
        "test-email:a@b.test",
    )


def test_gateway_without_an_id_names_nobody():
    assert customers.names(customer_id=None, email="a@b.test", gateway="stripe", is_test=False).gateway is None
