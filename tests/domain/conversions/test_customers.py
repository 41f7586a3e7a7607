"""The identity keys by which a program recognizes a buyer."""

import pytest

from domain.conversions import customers


@pytest.mark.parametrize(
    ("identity", "expected"),
    [
        ({"customer_id": "cus_1", "email": "A+x@b.test"}, ("id:cus_1", "of::cus_1", "email:a@b.test")),
        ({"customer_id": "cus_1", "email": None, "gateway": "stripe"}, ("id:cus_1", "of:stripe:cus_1", None)),
        ({"customer_id": None, "email": "A+x@b.test"}, (None, None, "email:a@b.test")),
        ({"customer_id": "", "email": ""}, (None, None, None)),
    ],
)
def test_buyer_has_one_name_by_id_and_one_by_email(identity, expected):
    names = customers.names(**identity, is_test=False)

    assert (names.id_name, names.other_name, names.email_name) == expected
    assert names.is_known == any(expected)


def test_names_of_test_buyers_are_separate():
    names = customers.names(customer_id="cus_1", email="a@b.test", is_test=True)

    assert (names.id_name, names.other_name, names.email_name) == (
        "test-id:cus_1",
        "test-of::cus_1",
        "test-email:a@b.test",
    )


def test_missing_customer_id_drops_the_gateway():
    assert customers.names(customer_id=None, email="a@b.test", gateway="stripe", is_test=False).gateway is None
