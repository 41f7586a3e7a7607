"""Rules that hold for what a discard of a job leaves undone."""

import pytest

from domain import jobs
from models import db
from models.jobs import admin_queries, losses, rows
from models.ledger import rules
from pipelines import schedule

# Money, and promises to buyers and affiliates: none of these may end without a decision.
_MONEY_QUEUES = ("sales", "refunds", "payouts", "gateways", "lookups", "tracking")


def test_every_kind_of_job_says_what_a_discard_leaves():
    assert set(losses.LOSSES) == set(jobs.ALL)
    assert [job.name for job, loss in losses.LOSSES.items() if not (loss.leaves and loss.remedy)] == []


def test_every_rule_that_a_loss_names_is_checked():
    rules_of_losses = {loss.rule for loss in losses.LOSSES.values() if loss.rule}

    assert rules_of_losses <= set(rules.RULES)
    assert len(rules_of_losses) >= 5


def test_dead_letters_of_money_never_end_by_age():
    of_money = {job.name for job in jobs.ALL if job.queue in _MONEY_QUEUES}
    with_amounts = {job.name for job, loss in losses.LOSSES.items() if loss.facts}

    assert (of_money | with_amounts) & set(losses.ENDING) == set()


def test_kinds_that_come_round_by_themselves_are_on_the_schedule_or_begun_by_it():
    scheduled = {entry.job.name for entry in schedule.SCHEDULE}
    claimed = {job.name for job, loss in losses.LOSSES.items() if "schedule asks for it again" in loss.remedy}

    assert scheduled <= claimed
    begun = {"gateway.check", "deal.release", "domain.check", "ledger.check_one", "days.reckon", "days.reckon_one"}
    assert claimed - scheduled - begun == {"retention.slice"}


def test_unknown_kind_is_kept_and_says_so():
    assert losses.loss_of("of.the_next_release").is_kept


@pytest.mark.parametrize("job", jobs.ALL, ids=lambda job: job.name)
@pytest.mark.parametrize("value", ["a-sale", "00000000-0000-0000-0000-000000000000"])
def test_job_about_nothing_known_can_be_looked_at(brand, job, value):
    names = ("sale_id", "conversion_id", "event_id", "lookup_id", "payout_id", "request_id", "milestone_id")
    args = dict.fromkeys(names, value) | {"percent": "10"}
    with db.unit_of_work(brand.id):
        job_id = rows.insert(job, organization_id=brand.id, args=args)
    with db.any_org_work():
        (row,) = admin_queries.any_org_lock([job_id])

    assert (row.leaves is None) == (losses.LOSSES[job].facts is not None)
