"""Which step a deal or a milestone can take in which state: everything else is out of turn."""

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


def _is_let(check, *args, **more):
    try:
        check(*args, **more)
    except Refused as refused:
        return (refused.status, refused.code) != (409, "invalid_status_transition")
    return True


@pytest.mark.parametrize(("status", "step"), list(itertools.product(DealStatus, DealStep)))
def test_a_deal_takes_its_steps_in_turn(status, step):
    assert _is_let(steps.check_deal, status, step, is_charging=False) == ((status, step) in _DEAL)


@pytest.mark.parametrize(("status", "step"), sorted(_DEAL))
def test_while_its_charge_is_on_its_way_nothing_is_done_to_a_deal(status, step):
    assert not _is_let(steps.check_deal, status, step, is_charging=True)


@pytest.mark.parametrize(("status", "step"), list(itertools.product(MilestoneStatus, MilestoneStep)))
def test_a_milestone_takes_its_steps_in_turn(status, step):
    assert _is_let(steps.check_milestone, status, step, is_paying=False) == ((status, step) in _MILESTONE)


@pytest.mark.parametrize(("status", "step"), sorted(_MILESTONE))
def test_while_a_payout_pays_it_nothing_is_done_to_a_milestone(status, step):
    assert not _is_let(steps.check_milestone, status, step, is_paying=True)


@pytest.mark.parametrize(("changes", "is_let"), [(0, True), (1, True), (2, False)])
def test_changes_are_requested_twice(changes, is_let):
    step = MilestoneStep.request_changes

    found = _is_let(steps.check_milestone, MilestoneStatus.Submitted, step, is_paying=False, changes=changes)

    assert found == is_let
