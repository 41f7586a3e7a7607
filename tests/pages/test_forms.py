"""The values and errors of a refused form."""

import pytest
from flask import Flask

from pages import forms
from pages.api_client import ApiRefusal, ApiResult


def _refused_form(refusal, typed, names=None):
    with Flask("a form").test_request_context("/", method="POST", data=typed):
        return forms.form_from_refusal(ApiResult(400, refusal=refusal), names or {}), forms.idempotency_key()


def test_refused_form_keeps_its_values_with_each_error_at_its_field():
    refusal = ApiRefusal("", "Bad", {"amountCents": "Must be positive.", "currency": "Unknown."}, {})
    form, key = _refused_form(refusal, {"_key": "k1", "amount": "-1", "currency": "XXY"}, {"amountCents": "amount"})

    assert (form.value("amount"), form.value("currency"), form.value("none")) == ("-1", "XXY", "")
    assert form.errors == {"amount": "Must be positive.", "currency": "Unknown."}
    assert (form.alert, form.status) == (None, 400)
    assert key == "k1"
    assert "_key" not in form.values


def test_error_without_a_field_is_the_alert_of_the_form():
    form, _ = _refused_form(ApiRefusal("", "Bad", {"status": "Unknown."}, {}), {"name": "x"})
    assert form.alert == "status: Unknown."

    form, _ = _refused_form(ApiRefusal("conflict", "The slug is taken.", {}, {}), {"name": "x"})
    assert (form.alert, form.is_wrong) == ("The slug is taken.", True)


def test_new_form_shows_current_values():
    form = forms.prefill(name="Spring", tags=["a", "b"], limit=None, count=3)

    assert (form.value("name"), form.value("limit"), form.value("count")) == ("Spring", "", "3")
    assert form.has("tags", "b")
    assert not form.has("tags", "c")
    assert not form.is_wrong


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("commissionCents must not be negative.", "Commission must not be negative."),
        ("commissionCents can be at most 10 times amountCents.", "Commission can be at most 10 times amount."),
        (
            "It is in use; archive it (POST /api/v1/coupons/archive) instead.",
            "It is in use; archive it instead.",
        ),
        ("payoutGraceDays must be from 0 to 90.", "Hold period (days) must be from 0 to 90."),
        ("'myShop' is not a host name.", "'myShop' is not a host name."),
        ("https://acme.example/myShop cannot be reached.", "https://acme.example/myShop cannot be reached."),
        ("The slug is taken.", "The slug is taken."),
    ],
)
def test_message_of_the_api_is_shown_without_names_of_fields_and_requests(message, words):
    form, _ = _refused_form(ApiRefusal("refused", message, {}, {}), {"name": "x"})

    assert form.alert == words


def test_field_that_the_form_does_not_have_is_named_in_words():
    form, _ = _refused_form(ApiRefusal("", "Bad", {"minPayoutCents": "Must be positive."}, {}), {"name": "x"})

    assert form.alert == "Minimum payout: Must be positive."
