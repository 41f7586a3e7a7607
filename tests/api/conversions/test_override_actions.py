"""What a decision about a sale means for the recruiter's row beside it. Source: core spec, "States"."""

import pytest

from tests.support.api.decisions import post_action
from tests.support.recruits import Recruits


def test_both_rows_are_told_of(brand, drain):
    recruits = Recruits.create(brand)
    sale_id = recruits.sell()
    drain()

    post_action(brand, "invalidate", sale_id)

    (own,) = recruits.events("conversion.invalidated", is_override=False)
    (above,) = recruits.events("conversion.invalidated", is_override=True)
    assert (own["conversionId"], above["parentAffiliateConversionId"]) == (str(sale_id), str(sale_id))
    assert (own["commissionCents"], above["commissionCents"], above["amountCents"]) == (2_000, 200, 0)


def test_a_denied_sale_denies_its_override(brand, drain):
    recruits = Recruits.create(brand)
    sale_id = recruits.sell()
    drain()

    post_action(brand.person("Manager"), "deny", sale_id)

    assert recruits.overrides("status") == [("Denied",)]
    assert (recruits.balance(recruits.ben), recruits.balance(recruits.ann)) == (0, 0)


def test_an_approved_sale_leaves_its_override_where_it_is(brand, drain):
    recruits = Recruits.create(brand)
    sale_id = recruits.sell()
    drain()

    post_action(brand.person("Manager"), "approve", sale_id)

    assert (recruits.parents("status"), recruits.overrides("status")) == ([("Approved",)], [("Pending",)])


@pytest.mark.parametrize("action", ["invalidate", "deny"])
def test_an_override_that_was_paid_out_is_untouched(brand, drain, action):
    recruits = Recruits.create(brand)
    sale_id = recruits.sell()
    drain()
    recruits.change("update conversion set status = 'Paid' where parent_id is not null")

    post_action(brand.person("Manager"), action, sale_id)

    assert recruits.overrides("status") == [("Paid",)]
    assert recruits.balance(recruits.ann) == 200


@pytest.mark.parametrize(("action", "born"), [("invalidate", "Invalidated"), ("deny", "Denied")])
def test_an_override_that_is_written_later_is_born_as_its_sale_is(brand, drain, action, born):
    recruits = Recruits.create(brand)
    sale_id = recruits.sell()
    post_action(brand.person("Manager"), action, sale_id)

    drain()

    assert recruits.overrides("status") == [(born,)]
    assert recruits.balance(recruits.ann) == 0


def test_an_override_that_was_born_invalidated_is_restored_with_its_sale(brand, drain):
    recruits = Recruits.create(brand)
    sale_id = recruits.sell()
    post_action(brand, "invalidate", sale_id)
    drain()

    post_action(brand, "validate", sale_id)

    assert recruits.overrides("status") == [("Pending",)]
    assert recruits.balance(recruits.ann) == 200


@pytest.mark.parametrize("is_cascaded", [True, False])
def test_refunds_that_came_meanwhile_take_their_share_on_validation(brand, drain, is_cascaded):
    recruits = Recruits.create(brand)
    sale_id = recruits.sell(externalEventId="order")
    drain()
    brand.refund("order", 1_000)
    drain()
    post_action(brand, "invalidate", sale_id)
    brand.refund("order", 2_000)
    if is_cascaded:
        drain()

    shown = post_action(brand, "validate", sale_id).json
    drain()

    assert (shown["status"], shown["commissionCents"], shown["refundedAmountCents"]) == ("Pending", 1_400, 3_000)
    assert recruits.overrides("status, reversed_cents") == [("Pending", 60)]
    assert (recruits.balance(recruits.ben), recruits.balance(recruits.ann)) == (1_400, 140)
    history = brand.get(f"/api/v1/conversions/{sale_id}").json["events"]
    assert [line["commissionCents"] for line in history] == [2_000, -200, 0, -400]


def test_a_sale_that_was_refunded_in_full_meanwhile_comes_back_refunded(brand, drain):
    recruits = Recruits.create(brand)
    sale_id = recruits.sell(externalEventId="order")
    drain()
    post_action(brand, "invalidate", sale_id)
    brand.refund("order")
    drain()

    shown = post_action(brand, "validate", sale_id).json

    assert (shown["status"], shown["commissionCents"]) == ("Refunded", 0)
    assert recruits.overrides("status, reversed_cents") == [("Refunded", 200)]
    assert (recruits.balance(recruits.ben), recruits.balance(recruits.ann)) == (0, 0)


def test_an_override_does_not_come_back_without_its_sale(brand, drain):
    recruits = Recruits.create(brand)
    sale_id = recruits.sell()
    drain()
    post_action(brand, "invalidate", sale_id)
    ((override_id,),) = recruits.overrides("id")

    answer = post_action(brand, "validate", override_id)

    assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")


def test_an_override_is_invalidated_and_validated_by_itself(brand, drain):
    recruits = Recruits.create(brand)
    recruits.sell()
    drain()
    ((override_id,),) = recruits.overrides("id")

    post_action(brand, "invalidate", override_id)
    without = recruits.balance(recruits.ann)
    post_action(brand, "validate", override_id)

    assert (without, recruits.balance(recruits.ann), recruits.balance(recruits.ben)) == (0, 200, 2_000)
