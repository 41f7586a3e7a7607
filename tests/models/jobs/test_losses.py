"""Losses: the work that a discarded job leaves undone, by kind of job."""

import pytest

from domain import jobs
from models import db
from models.jobs import admin_queries, losses, rows
from models.ledger import rules
from pipelines import schedule

# Queues of money and of promises to buyers and affiliates: their jobs must not end without a decision.
_MONEY_QUEUES = ("sales", "refunds", "payouts", "gateways", "lookups", "tracking")


def test_every_kind_of_job_has_a_loss_with_a_remedy():
    assert set(losses.LOSSES) == set(jobs.ALL)
    assert [job.name for job, loss in losses.LOSSES.items() if not (loss.leaves and loss.remedy)] == []


def test_every_rule_of_a_loss_exists():
    rules_of_losses = {loss.rule for loss in losses.LOSSES.values() if loss.rule}

    assert rules_of_losses <= set(rules.RULES)
    assert len(rules_of_losses) >= 5


def test_dead_letters_of_money_never_expire():
    money_kinds = {job.name for job in jobs.ALL if job.queue in _MONEY_QUEUES}
    kinds_with_amounts = {job.name for job, loss in losses.LOSSES.items() if loss.facts}

    assert (money_kinds | kinds_with_amounts) & set(losses.EXPIRING_KINDS) == set()


def test_recurring_kinds_are_scheduled_or_started_by_the_schedule():
    scheduled = {entry.job.name for entry in schedule.SCHEDULE}
    recurring = {job.name for job, loss in losses.LOSSES.items() if "schedule asks for it again" in loss.remedy}

    assert scheduled <= recurring
    started_by_schedule = {
        "gateway.check",
        "deal.release",
        "domain.check",
        "ledger.check_one",
        "days.reckon",
        "days.reckon_one",
    }
    assert recurring - scheduled - started_by_schedule == {"retention.slice"}


def test_dead_letter_of_an_unknown_kind_never_expires():
    assert losses.loss_of("of.the_next_release").is_kept


@pytest.mark.parametrize("job", jobs.ALL, ids=lambda job: job.name)
@pytest.mark.parametrize("value", ["a-sale", "00000000-0000-0000-0000-000000000000"])
def test_job_with_unknown_ids_can_be_viewed(brand, job, value):
    names = ("sale_id", "conversion_id", "event_id", "lookup_id", "payout_id", "request_id", "milestone_id")
    args = dict.fromkeys(names, value) | {"percent": "10"}
    with db.unit_of_work(brand.id):
        job_id = rows.insert(job, organization_id=brand.id, args=args)
    with db.any_org_work():
        (row,) = admin_queries.any_org_lock([job_id])

    assert (row.leaves is None) == (losses.LOSSES[job].facts is not None)
