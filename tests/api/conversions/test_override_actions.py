"""Effects of a decision about a sale on the recruiter's override. Source: core spec, "States"."""

import pytest

from tests.support.api.decisions import post_action
from tests.support.recruits import Recruits


def test_sale_and_override_both_send_events(brand, drain):
    recruits = Recruits.create(brand)
    sale_id = recruits.sell()
    drain()

    post_action(brand, "invalidate", sale_id)

    (sale_event,) = recruits.events("conversion.invalidated", is_override=False)
    (override_event,) = recruits.events("conversion.invalidated", is_override=True)
    assert (sale_event["conversionId"], override_event["parentAffiliateConversionId"]) == (str(sale_id), str(sale_id))
    assert (sale_event["commissionCents"], override_event["commissionCents"], override_event["amountCents"]) == (
        2_000,
        200,
        0,
    )


def test_denied_sale_denies_its_override(brand, drain):
    recruits = Recruits.create(brand)
    sale_id = recruits.sell()
    drain()

    post_action(brand.person("Manager"), "deny", sale_id)

    assert recruits.overrides("status") == [("Denied",)]
    assert (recruits.balance(recruits.ben), recruits.balance(recruits.ann)) == (0, 0)


def test_approved_sale_leaves_its_override_unchanged(brand, drain):
    recruits = Recruits.create(brand)
    sale_id = recruits.sell()
    drain()

    post_action(brand.person("Manager"), "approve", sale_id)

    assert (recruits.parents("status"), recruits.overrides("status")) == ([("Approved",)], [("Pending",)])


@pytest.mark.parametrize("action", ["invalidate", "deny"])
def test_paid_override_is_unchanged(brand, drain, action):
    recruits = Recruits.create(brand)
    sale_id = recruits.sell()
    drain()
    recruits.change("update conversion set status = 'Paid' where parent_id is not null")

    post_action(brand.person("Manager"), action, sale_id)

    assert recruits.overrides("status") == [("Paid",)]
    assert recruits.balance(recruits.ann) == 200


@pytest.mark.parametrize(("action", "status"), [("invalidate", "Invalidated"), ("deny", "Denied")])
def test_override_created_later_gets_the_status_of_its_sale(brand, drain, action, status):
    recruits = Recruits.create(brand)
    sale_id = recruits.sell()
    post_action(brand.person("Manager"), action, sale_id)

    drain()

    assert recruits.overrides("status") == [(status,)]
    assert recruits.balance(recruits.ann) == 0


def test_override_created_invalidated_is_restored_with_its_sale(brand, drain):
    recruits = Recruits.create(brand)
    sale_id = recruits.sell()
    post_action(brand, "invalidate", sale_id)
    drain()

    post_action(brand, "validate", sale_id)

    assert recruits.overrides("status") == [("Pending",)]
    assert recruits.balance(recruits.ann) == 200


@pytest.mark.parametrize("is_cascaded", [True, False])
def test_refunds_before_validation_are_deducted_on_validation(brand, drain, is_cascaded):
    recruits = Recruits.create(brand)
    sale_id = recruits.sell(externalEventId="order")
    drain()
    brand.refund("order", 1_000)
    drain()
    post_action(brand, "invalidate", sale_id)
    brand.refund("order", 2_000)
    if is_cascaded:
        drain()

    sale = post_action(brand, "validate", sale_id).json
    drain()

    assert (sale["status"], sale["commissionCents"], sale["refundedAmountCents"]) == ("Pending", 1_400, 3_000)
    assert recruits.overrides("status, reversed_cents") == [("Pending", 60)]
    assert (recruits.balance(recruits.ben), recruits.balance(recruits.ann)) == (1_400, 140)
    history = brand.get(f"/api/v1/conversions/{sale_id}").json["events"]
    assert [line["commissionCents"] for line in history] == [2_000, -200, 0, -400]


def test_fully_refunded_sale_is_refunded_after_validation(brand, drain):
    recruits = Recruits.create(brand)
    sale_id = recruits.sell(externalEventId="order")
    drain()
    post_action(brand, "invalidate", sale_id)
    brand.refund("order")
    drain()

    sale = post_action(brand, "validate", sale_id).json

    assert (sale["status"], sale["commissionCents"]) == ("Refunded", 0)
    assert recruits.overrides("status, reversed_cents") == [("Refunded", 200)]
    assert (recruits.balance(recruits.ben), recruits.balance(recruits.ann)) == (0, 0)


def test_override_is_not_restored_without_its_sale(brand, drain):
    recruits = Recruits.create(brand)
    sale_id = recruits.sell()
    drain()
    post_action(brand, "invalidate", sale_id)
    ((override_id,),) = recruits.overrides("id")

    answer = post_action(brand, "validate", override_id)

    assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")


def test_override_can_be_invalidated_and_validated_separately(brand, drain):
    recruits = Recruits.create(brand)
    recruits.sell()
    drain()
    ((override_id,),) = recruits.overrides("id")

    post_action(brand, "invalidate", override_id)
    balance_without = recruits.balance(recruits.ann)
    post_action(brand, "validate", override_id)

    assert (balance_without, recruits.balance(recruits.ann), recruits.balance(recruits.ben)) == (0, 200, 2_000)
