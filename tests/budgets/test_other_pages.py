"""Round trips of affiliates' and operators' pages and API reads, with few rows and with many."""

import re
from contextlib import ExitStack
from uuid import uuid4

import pytest

from domain import jobs
from tests.budgets.counting import Reads
from tests.support.job_queues import drain
from tests.support.outside.console import Console, stage_failed_job
from tests.support.outside.post_office import stage_messages
from tests.support.rows.brands import Brand, Partner
from tests.support.rows.deal_scene import DealScene
from tests.support.rows.payroll import Payroll
from tests.support.settings_overrides import override_settings


class Portal(Reads):
    costs = {
        "/portal": 6,
        "/portal/links": 4,
        "/portal/earnings": 3,
        "/portal/payouts": 2,
        "/portal/programs": 4,
        "/portal/discover": 2,
        "/portal/coupons": 3,
        "/portal/deals": 2,
        "/portal/recruits": 4,
        "/portal/assets": 3,
    }
    must_state = True
    email = f"rita-{uuid4().hex}@example.com"
    caller = ("affiliate", "--email", email)

    def grow(self, number):
        self.brand.program(name=f"Program {number}")
        rita = self.brand.affiliate(f"rita-{number}", email=self.email, email_normalized=self.email)
        self.brand.affiliate(f"eva-{number}", recruited_by_affiliate_id=rita)
        self.brand.sale(affiliateSlug=f"rita-{number}")
        drain("sales")
        return {}


class OwnRows(Reads):
    """API reads of an affiliate of several brands; without a cache two round trips find the caller."""

    costs = {
        "/api/me": 3,
        "/api/me/programs": 3,
        "/api/me/programs/offers": 3,
        "/api/me/network": 3,
        "/api/me/balance": 3,
        "/api/me/stats/daily": 3,
        "/api/me/stats/channels": 3,
        "/api/me/links": 3,
        "/api/me/conversions": 3,
        "/api/me/payouts": 3,
        "/api/me/coupons/mintable": 3,
        "/api/me/assets": 3,
    }

    def __init__(self, app, *_):
        self.app, self.email = app, f"rita-{uuid4().hex}@example.com"
        self.rita = Partner(app, self.email)

    def grow(self, number):
        brand = Brand.create(self.app)
        brand.program()
        brand.affiliate(f"rita-{number}", email=self.email, email_normalized=self.email)
        for _ in range(3):
            brand.sale(affiliateSlug=f"rita-{number}")
        drain("sales")
        return {}

    def open(self, address):
        return self.rita.get(address)


class ConsolePages(Reads):
    costs = {
        "/console": 9,
        "/console/queues/fragment": 4,
        "/console/attention/fragment": 5,
        "/console/dead": 6,
        "/console/dead/fragment": 2,
        "/console/dead/replay": 1,
        "/console/schedule": 1,
        "/console/schedule/fragment": 1,
        "/console/ledger": 1,
        "/console/ledger/fragment": 1,
        "/console/payouts": 3,
        "/console/rates": 2,
        "/console/mail": 1,
        "/console/tenants": 1,
        "/console/connections": 2,
        "/console/programs": 1,
        "/console/network": 1,
        "/console/disputes": 1,
        "/console/style": 0,
        "/console/dead/{letter}": 1,
        "/console/queues/sales/pause": 4,
        "/console/payouts/runs/{run}": 1,
        "/console/payouts/{payout}/settle": 3,
        "/console/mail/{message}": 2,
        "/console/tenants/{organization}": 5,
        "/console/programs/{program}": 1,
        "/console/network/{program}": 1,
        "/console/disputes/{deal}": 5,
        "/console/disputes/{deal}/milestones/1/settle": 5,
        "/console/disputes/{deal}/milestones/1/refund": 5,
    }
    caller = ("operator",)

    def grow(self, number):
        payroll, reviewed, dealing = (
            Payroll.create_owing(self.app),
            Payroll.create_owing(self.app),
            DealScene.create(self.app),
        )
        deal = dealing.create_funded(*[1_000] * (1 + 2 * number))
        for seq in range(1, 2 + 2 * number):
            dealing.dispute(deal, seq)
        dealing.brand.rows("update organization set home_currency = 'TJS' returning id")  # a currency without a rate
        payroll.execute(
            "update program set network_visibility = 'Networked', network_review = 'Pending', network_asked_at = now()"
        )
        letters = [stage_failed_job(payroll.brand, job=job) for job in (jobs.SALE_SETTLE, jobs.REFUND_CASCADE)]
        return {
            "letter": letters[0],
            "payout": payroll.create_stuck_payout(),
            "run": reviewed.create_run_under_review(),
            "message": stage_messages(payroll.brand, "One", "Two")[0],
            "organization": payroll.brand.id,
            "program": payroll.brand.programs[0],
            "deal": deal,
        }


class OperatorRows(ConsolePages):
    costs = {
        f"/api/operator/{path}": cost
        for path, cost in {
            "attention": 3,
            "queues": 4,
            "dead-letters": 1,
            "dead-letters/count": 1,
            "dead-letters/kinds": 1,
            "dead-letters/{letter}": 1,
            "schedule": 1,
            "ledger": 1,
            "payouts/runs": 1,
            "payouts/doubtful": 1,
            "payouts/events": 1,
            "payouts/{payout}": 3,
            "rates": 2,
            "mail": 1,
            "mail/{message}": 2,
            "organizations": 1,
            "organizations/{organization}": 5,
            "connections": 2,
            "programs": 1,
            "programs/{program}": 1,
            "network": 1,
            "network/{program}": 1,
            "disputes": 1,
            "deals/{deal}": 5,
        }.items()
    }
    must_state = True

    def __init__(self, app, *_):
        self.app, self.console = app, Console(app)

    def open(self, address):
        return self.console.get(address.removeprefix("/api/operator/"))


@pytest.mark.parametrize("reads", [Portal, OwnRows, ConsolePages, OperatorRows])
def test_address_costs_its_round_trips_with_few_rows_and_with_many(app, brand, flask, monkeypatch, reads):
    if reads not in (OwnRows, OperatorRows):
        override_settings(monkeypatch, web={"key_cache_s": 60})

    with ExitStack() as stack:
        reads(app, brand, flask, stack).assert_costs_stay()


def test_every_operator_read_has_a_budget(app):
    addresses = {
        re.sub("<[^>]*>", "{}", rule.rule)
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/api/operator/") and "GET" in rule.methods
    }

    assert {re.sub("{.*?}", "{}", address) for address in OperatorRows.costs} == addresses
