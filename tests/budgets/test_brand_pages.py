"""Round trips of the dashboard's pages with few rows and with many."""

from contextlib import ExitStack

import pytest

from tests.budgets.counting import Reads
from tests.support.api import embed_tokens
from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.coupons import create_coupon, mint_code
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.job_queues import drain
from tests.support.outside.visitor import Visitor
from tests.support.rows.deal_scene import DealScene
from tests.support.rows.fraud_rows import record_blocked_click
from tests.support.rows.payroll import Payroll
from tests.support.rows.program_rows import insert_click, insert_conversion, time_ago
from tests.support.settings_overrides import override_settings

_PROGRAM = "/dashboard/programs/{program}"
_AFFILIATE = "/dashboard/affiliates/{affiliate}"


class Home(Reads):
    costs = {
        "/dashboard": 16,
        "/dashboard/onboarding": 1,
        "/dashboard/notifications": 2,
        "/dashboard/notifications/list": 2,
        "/dashboard/settings/notifications": 2,
    }

    def grow(self, number):
        self.brand.program()
        for name in ("a", "b"):
            self.brand.affiliate(f"{name}-{number}", status="Paused")
            self.brand.affiliate(f"new-{name}-{number}", status="Pending", approved_at=None)
            self.brand.sale(affiliateSlug=f"{name}-{number}")
        drain()
        return {}


class Affiliates(Reads):
    costs = {
        "/dashboard/affiliates": 7,
        "/dashboard/affiliates?sort=-revenue": 7,
        "/dashboard/affiliates/applications": 3,
        "/dashboard/search?q=new": 1,
    }

    def grow(self, number):
        for each in range(1 + 4 * number):
            self.brand.affiliate(f"new-{number}-{each}", status="Pending", approved_at=None)
        return {}


class AffiliateProfile(Reads):
    costs = {
        _AFFILIATE: 13,
        f"{_AFFILIATE}?range=90d": 13,
        f"{_AFFILIATE}/timeline": 3,
        f"{_AFFILIATE}/payouts": 3,
        f"{_AFFILIATE}/recruits": 5,
        f"{_AFFILIATE}/settings": 5,
        f"{_AFFILIATE}/links/{{link}}/qr.svg": 2,
    }

    def prepare(self, app, brand):
        brand.program()
        self.affiliate = brand.affiliate("ben")
        return brand

    def grow(self, number):
        for currency in ("USD", "EUR", "JPY")[: 3 * number]:
            assert self.brand.sale(currency=currency).status_code == 200
        self.brand.affiliate(f"eva-{number}", recruited_by_affiliate_id=self.affiliate)
        changes = {"notes": f"Note {number}"}
        path = f"/api/v1/affiliates/{self.affiliate}"
        assert self.brand.call("PATCH", path, changes).status_code == 200
        ((link,),) = self.brand.rows("select id from tracking_link where affiliate_id = %s", self.affiliate)
        return {"affiliate": self.affiliate, "link": link}


class Conversions(Reads):
    costs = {
        "/dashboard/conversions": 2,
        "/dashboard/conversions?q=ada&sort=oldest": 2,
        "/dashboard/conversions?status=Pending&sort=payable": 2,
        "/dashboard/conversions/{conversion}": 7,
        "/dashboard/conversions/new": 2,
        "/dashboard/conversions/new?uncredited={conversion}": 3,
        "/dashboard/review": 3,
    }
    never = (b"count(*)", b"offset 1")

    def grow(self, number):
        ada = self.brand.affiliate(f"ada-{number}")
        self.brand.affiliate(f"paused-{number}", status="Paused")
        for each in range(3):
            lead = insert_conversion(self.brand, ada, type="LeadReward", status="Invalidated")
            record_blocked_click(
                self.brand, ada, subject="lead", subject_id=lead, action="held", at=time_ago(hours=each)
            )
        self.brand.sale(affiliateSlug=f"paused-{number}")
        return {"conversion": insert_conversion(self.brand, ada)}


class ImportsAndWebhooks(Reads):
    costs = {
        "/dashboard/imports": 1,
        "/dashboard/imports/new": 1,
        "/dashboard/imports/{import_id}": 1,
        "/dashboard/imports/{import_id}/fragment": 1,
        "/dashboard/imports/{import_id}/undo": 3,
        "/dashboard/webhooks": 2,
        "/dashboard/webhooks/{endpoint_id}": 3,
        "/dashboard/webhooks/{endpoint_id}/fragment": 3,
        "/dashboard/webhooks/{endpoint_id}/deliveries/{delivery_id}": 4,
        "/dashboard/webhooks/{endpoint_id}/deliveries/{delivery_id}/fragment": 4,
    }
    must_state = True

    def prepare(self, app, brand):
        brand.program()
        brand.affiliate("ben")
        return brand

    def grow(self, number):
        job = import_sales(
            self.brand, *[build_past_sale(externalId=f"{number}-{row}") for row in range(number + 1)]
        ).json
        endpoint = self.brand.endpoint(f"https://127.0.0.1:1/{number}")
        for _ in range(number + 1):
            delivery = self.brand.post(f"/api/v1/webhooks/{endpoint['id']}/test").json
        drain("webhooks")
        return {"import_id": job["jobId"], "endpoint_id": endpoint["id"], "delivery_id": delivery["deliveryId"]}


class Payouts(Reads):
    costs = {
        "/dashboard/payouts": 7,
        "/dashboard/payouts/new": 10,
        "/dashboard/payouts/new/confirm": 9,
        "/dashboard/payouts/runs/{run}": 2,
        "/dashboard/payouts/{payout}": 2,
    }
    must_state = True

    def prepare(self, app, brand):
        self.payroll = Payroll.create(app)
        for currency, rate in (("EUR", "0.9"), ("JPY", "150")):
            self.payroll.rate(currency, rate)
        return self.payroll.brand

    def grow(self, number):
        slugs = [f"ann-{number}-{each}" for each in range(1 + 2 * number)]
        for slug in slugs:
            self.payroll.affiliate(slug)
            self._sell(slug)
        run_id = self.payroll.run().run.id
        for slug in slugs:
            self._sell(slug)
        ((payout_id,),) = self.brand.rows("select id from payout order by created_at desc limit 1")
        return {"run": run_id, "payout": payout_id}

    def _sell(self, slug):
        for currency in ("USD", "EUR", "JPY", "USD"):
            self.payroll.sell(slug, 10_000, currency)


class Programs(Reads):
    costs = {
        "/dashboard/programs": 1,
        "/dashboard/programs/new": 0,
        _PROGRAM: 16,
        f"{_PROGRAM}/change": 2,
        f"{_PROGRAM}/groups": 3,
        f"{_PROGRAM}/tiers": 4,
        f"{_PROGRAM}/recruiting": 2,
        f"{_PROGRAM}/landing-page": 2,
        f"{_PROGRAM}/landing-page/preview": 2,
        f"{_PROGRAM}/domain": 2,
        f"{_PROGRAM}/domain/found": 1,
        f"{_PROGRAM}/install": 4,
        f"{_PROGRAM}/install/checks": 1,
        "/dashboard/invites": 2,
    }

    def prepare(self, app, brand):
        domain = f"partners.{brand.id.hex}.example"
        self.program = brand.program(budget_cents=500_000, budget_currency="USD", custom_domain=domain)
        return brand

    def grow(self, number):
        program = f"/api/v1/programs/{self.program}"
        group = {"name": f"Gold {number}", "commissionType": "Percentage", "commissionValue": 5}
        tiers = [
            {"minRevenueCents": least, "commissionType": "Percentage", "commissionValue": 5}
            for least in range(number + 1)
        ]
        invite = {"programId": str(self.program), "email": f"ina-{number}@example.com"}
        assert self.brand.post(f"{program}/partner-groups", group).status_code == 201
        assert self.brand.call("PUT", f"{program}/performance-tiers", {"tiers": tiers}).status_code == 200
        assert self.brand.post("/api/affiliate-invites", invite).status_code == 201
        ben = self.brand.affiliate(f"ben-{number}", program_id=self.program)
        for _ in range(3):
            insert_click(self.brand, ben)
            self.brand.sale(affiliateSlug=f"ben-{number}")
        self.brand.programs.remove(self.brand.program())
        return {"program": self.program}


class Settings(Reads):
    costs = {
        "/dashboard/settings": 1,
        "/dashboard/settings/brand": 1,
        "/dashboard/settings/brand?primaryBrandColor=%23ffd400": 1,
        "/dashboard/settings/developers": 0,
        "/dashboard/settings/payouts": 2,
        "/dashboard/settings/profile": 1,
        "/dashboard/settings/tracking": 2,
        "/dashboard/api-keys": 1,
        "/dashboard/audit-log": 4,
        "/dashboard/embed": 1,
        "/dashboard/settings/tracking-domain": 1,
    }

    def grow(self, number):
        self.brand.other_key()
        embed_tokens.issue_token(self.brand, self.brand.affiliate(f"ann-{number}"))
        manager = ("--org", self.brand.id, "--role", "Manager", "--email", f"ada-{number}@example.com")
        Visitor(self.app).open(self.flask.json("sign-in", "owner", *manager)["url"])
        return {}


class Work(Reads):
    """Coupons, connections, deals and assets."""

    costs = {
        "/dashboard/coupons": 4,
        "/dashboard/coupons/new": 1,
        "/dashboard/coupons/codes/new": 1,
        "/dashboard/coupons/{program_id}/{coupon_id}": 4,
        "/dashboard/connections": 2,
        "/dashboard/connections/{connection_id}": 5,
        "/dashboard/deals": 3,
        "/dashboard/deals/new": 1,
        "/dashboard/deals/{deal_id}": 4,
        "/dashboard/assets": 2,
    }
    must_state = True

    def prepare(self, app, brand):
        self.work = DealScene.for_brand(brand)
        self.gateway = connect_gateway(self.work.owner, self.stack.enter_context(play_gateway()))
        return brand

    def grow(self, number):
        program_id = self.brand.programs[0]
        family = create_coupon(self.brand, name=f"Partner {number}")
        affiliate_id = self.brand.affiliate(f"ann-{number}", program_id=program_id)
        for each in range(number + 1):
            mint_code(self.brand, affiliate_id, family["id"], f"ANN-{number}-{each}")
            self.work.owner.post("/api/v1/assets", {"name": f"Words {number}", "text": "Try it."})
        return {
            "program_id": program_id,
            "coupon_id": family["id"],
            "connection_id": self.gateway["id"],
            "deal_id": self.work.create_offered(*[10_000] * (number + 1)),
        }


_READS = [
    Home,
    Affiliates,
    AffiliateProfile,
    Conversions,
    ImportsAndWebhooks,
    Payouts,
    Programs,
    Settings,
    Work,
]


@pytest.mark.parametrize("reads", _READS)
def test_page_costs_its_round_trips_with_few_rows_and_with_many(app, brand, flask, monkeypatch, reads):
    override_settings(monkeypatch, web={"key_cache_s": 60})

    with ExitStack() as stack:
        reads(app, brand, flask, stack).assert_costs_stay()
