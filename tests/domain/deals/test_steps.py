"""The steps allowed in each status of a deal or milestone; every other step is refused."""

import itertools

import pytest

from domain.deals import steps
from domain.deals.states import DealStatus, MilestoneStatus
from domain.deals.steps import DealStep, MilestoneStep
from domain.refusals import Refused

_DEAL = {
    (DealStatus.Draft, DealStep.offer),
    (DealStatus.Draft, DealStep.cancel),
    (DealStatus.Offered, DealStep.cancel),
    (DealStatus.Offered, DealStep.accept),
    (DealStatus.Offered, DealStep.decline),
    (DealStatus.Accepted, DealStep.cancel),
    (DealStatus.Accepted, DealStep.fund),
}
_MILESTONE = {
    (MilestoneStatus.Funded, MilestoneStep.submit),
    (MilestoneStatus.Funded, MilestoneStep.dispute),
    (MilestoneStatus.Submitted, MilestoneStep.approve),
    (MilestoneStatus.Submitted, MilestoneStep.request_changes),
    (MilestoneStatus.Submitted, MilestoneStep.dispute),
    (MilestoneStatus.Disputed, MilestoneStep.settle),
}


def _is_allowed(check, *args, **more):
    try:
        check(*args, **more)
    except Refused as refusal:
        return (refusal.status, refusal.code) != (409, "invalid_status_transition")
    return True


@pytest.mark.parametrize(("status", "step"), list(itertools.product(DealStatus, DealStep)))
def test_deal_step_is_allowed_only_in_its_status(status, step):
    assert _is_allowed(steps.check_deal, status, step, is_charging=False) == ((status, step) in _DEAL)


@pytest.mark.parametrize(("status", "step"), sorted(_DEAL))
def test_deal_with_a_pending_charge_refuses_every_step(status, step):
    assert not _is_allowed(steps.check_deal, status, step, is_charging=True)


@pytest.mark.parametrize(("status", "step"), list(itertools.product(MilestoneStatus, MilestoneStep)))
def test_milestone_step_is_allowed_only_in_its_status(status, step):
    assert _is_allowed(steps.check_milestone, status, step, is_paying=False) == ((status, step) in _MILESTONE)


@pytest.mark.parametrize(("status", "step"), sorted(_MILESTONE))
def test_milestone_in_a_payout_refuses_every_step(status, step):
    assert not _is_allowed(steps.check_milestone, status, step, is_paying=True)


@pytest.mark.parametrize(("changes", "is_allowed"), [(0, True), (1, True), (2, False)])
def test_changes_can_be_requested_twice(changes, is_allowed):
    step = MilestoneStep.request_changes

    actual = _is_allowed(steps.check_milestone, MilestoneStatus.Submitted, step, is_paying=False, changes=changes)

    assert actual == is_allowed
