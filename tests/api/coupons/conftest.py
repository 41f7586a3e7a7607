"""Brands with an affiliate, jane, whose payment processor or store is simulated."""

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from models import db
from tests.support.coupons import PERCENT_CODE
from tests.support.gateways.card.stripe import StripeStage
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import drain
from tests.support.rows.brands import Brand, Partner


@dataclass
class CouponShop:
    """A brand, its simulated processor and an affiliate who can sign in."""

    brand: Brand
    stage: StripeStage
    connection: dict[str, Any]
    jane: UUID
    signed_in_jane: Partner

    @property
    def janes_email(self) -> str:
        """Return the email address with which jane signs in."""
        return f"jane-{self.brand.id.hex}@example.com"

    @property
    def coupons(self) -> str:
        """Return the path of the campaign's coupons."""
        return f"/api/v1/campaigns/{self.brand.programs[0]}/coupons"

    @property
    def codes(self) -> str:
        """Return the path of jane's codes."""
        return f"/api/v1/affiliates/{self.jane}/coupons"

    def list_event_data(self, type: str) -> list[dict[str, Any]]:
        """Return the data of the webhook events of a type, oldest first."""
        rows = self.brand.rows("select body from event where type = %s order by created_at, id", type)
        return [json.loads(body)["data"] for (body,) in rows]

    def make_jobs_due(self) -> None:
        """Make the gateway jobs due that wait for a request to end or for a gateway to come back."""
        with db.unit_of_work(self.brand.id):
            db.db.run("update job set run_at = now() where queue = 'gateways'")


@pytest.fixture
def shop(brand):
    with play_gateway() as stage:
        brand.program()
        email = f"jane-{brand.id.hex}@example.com"
        jane = brand.affiliate("jane", email=email, email_normalized=email)
        yield CouponShop(brand, stage, connect_gateway(brand.person("Owner"), stage), jane, Partner(brand.app, email))


@dataclass
class Store:
    """A brand with jane and a simulated gateway."""

    brand: Brand
    stage: Any
    connection: dict[str, Any]
    jane: str

    @property
    def name(self) -> str:
        """Return the gateway's name."""
        return str(self.stage.gateway.name)

    @property
    def url(self) -> str:
        """Return the path of jane's codes."""
        return f"/api/v1/affiliates/{self.jane}/coupons"

    def request_code(self, **fields: Any) -> Any:
        """Request a code and return the answer."""
        return self.brand.post(self.url, PERCENT_CODE | fields)

    def mint_code(self, **fields: Any) -> dict[str, Any]:
        """Mint a code and return it."""
        answer = self.request_code(**fields)
        assert answer.status_code == 201, answer.get_data(as_text=True)
        return dict(answer.json)

    def list_codes(self) -> list[dict[str, Any]]:
        """Return jane's codes."""
        return list(self.brand.get(self.url).json["items"])

    def sell(self, **purchase: Any) -> None:
        """Pay for a purchase at the gateway, deliver its notifications and run the jobs."""
        path = "/" + self.connection["webhookUrl"].split("/", 3)[3]
        for notification in self.stage.pay(Purchase(**purchase)).notifications:
            headers, query = dict(notification.headers), dict(notification.query)
            self.brand.app.test_client().post(path, data=notification.body, headers=headers, query_string=query)
        drain()

    def run_waiting_jobs(self) -> None:
        """Run the gateway jobs that wait for their time."""
        self.brand.rows("update job set run_at = now() where queue = 'gateways' returning id")
        drain()


@pytest.fixture
def store(brand, request):
    with play_gateway(getattr(request, "param", "shopify")) as stage:
        brand.program()
        jane = brand.affiliate("jane")
        yield Store(brand, stage, connect_gateway(brand.person("Owner"), stage), str(jane))
