"""A brand with jane, an affiliate, whose processor is played on this machine."""

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
    """A brand, its processor, and an affiliate who can sign in."""

    brand: Brand
    stage: StripeStage
    connection: dict[str, Any]
    jane: UUID
    jane_herself: Partner

    @property
    def janes_email(self) -> str:
        """What jane signs in with."""
        return f"jane-{self.brand.id.hex}@example.com"

    @property
    def coupons(self) -> str:
        """Where the coupons of the campaign are."""
        return f"/api/v1/campaigns/{self.brand.programs[0]}/coupons"

    @property
    def codes(self) -> str:
        """Where jane's codes are."""
        return f"/api/v1/affiliates/{self.jane}/coupons"

    def told(self, type: str) -> list[dict[str, Any]]:
        """Return the data of the webhook events of a type, in their order."""
        found = self.brand.rows("select body from event where type = %s order by created_at, id", type)
        return [json.loads(body)["data"] for (body,) in found]

    def later(self) -> None:
        """Let the time pass that a request is left alone, and what is waited for while a gateway is away."""
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
    """A brand with jane, whose gateway is played."""

    brand: Brand
    stage: Any
    connection: dict[str, Any]
    jane: str

    @property
    def name(self) -> str:
        """The gateway."""
        return str(self.stage.gateway.name)

    @property
    def url(self) -> str:
        """Where jane's codes are."""
        return f"/api/v1/affiliates/{self.jane}/coupons"

    def mint(self, **fields: Any) -> Any:
        """Request a code and return the answer."""
        return self.brand.post(self.url, PERCENT_CODE | fields)

    def minted(self, **fields: Any) -> dict[str, Any]:
        """Mint a code and return it."""
        answer = self.mint(**fields)
        assert answer.status_code == 201, answer.get_data(as_text=True)
        return dict(answer.json)

    def listed(self) -> list[dict[str, Any]]:
        """Return jane's codes."""
        return list(self.brand.get(self.url).json["items"])

    def sell(self, **purchase: Any) -> None:
        """Book a purchase at the gateway."""
        path = "/" + self.connection["webhookUrl"].split("/", 3)[3]
        for sent in self.stage.pay(Purchase(**purchase)).notifications:
            headers, query = dict(sent.headers), dict(sent.query)
            self.brand.app.test_client().post(path, data=sent.body, headers=headers, query_string=query)
        drain()

    def later(self) -> None:
        """Let time pass that jobs wait for."""
        self.brand.rows("update job set run_at = now() where queue = 'gateways' returning id")
        drain()


@pytest.fixture
def store(brand, request):
    with play_gateway(getattr(request, "param", "shopify")) as stage:
        brand.program()
        jane = brand.affiliate("jane")
        yield Store(brand, stage, connect_gateway(brand.person("Owner"), stage), str(jane))
