"""The process that mints a code is killed at every point: the gateway has the code once, and the list matches it."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Any

import pytest

from adapters.embedded import data_folder
from tests.support.coupons import COUPON
from tests.support.gateways.card.stripe import StripeStage
from tests.support.gateways.codes import CodeBooks
from tests.support.gateways.stage import ApiCall
from tests.support.gateways.storefront.shopify import ShopifyStage
from tests.support.installation.gateway_shop import GatewayShop
from tests.support.installation.machine import Machine
from tests.support.installation.process_killer import ProcessKiller
from tests.support.installation.proxy import Proxy

_CODES = "select status, processor_promotion_code_id from affiliate_coupon where organization_id = %s"
_MINTING = f"{_CODES} and status = 'Minting'"
_CREATED_EVENTS = "select from event where organization_id = %s and type = 'affiliate_coupon.created'"
_TEXT = "SPRING"


class MintingScene:
    """A brand with a coupon, the fake gateway that mints its codes, and the gateway's stored codes (`books`)."""

    def __init__(self, machine: Machine, shop: GatewayShop, coupon_id: str, stage: StripeStage | ShopifyStage) -> None:
        self.machine, self.shop, self.stage = machine, shop, stage
        self.books: CodeBooks = stage.codes
        self._coupon_id = coupon_id
        self._key = shop.brand.person("Owner").api_key
        self._pool = ThreadPoolExecutor(1)

    @property
    def path(self) -> str:
        """The URL path of ben's codes."""
        return f"/api/v1/affiliates/{self.shop.ben}/coupons"

    def send_request(self, method: str = "POST", path: str = "") -> None:
        """Send a request for a code, or another request about it, without waiting for the response."""
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        body = json.dumps({"campaignCouponId": self._coupon_id, "code": _TEXT}).encode() if method == "POST" else b""
        self._pool.submit(self.shop.send_once, self.path + path, body, headers, method)

    def count_create_calls(self) -> int:
        """Return how many calls to create a code the gateway has received."""
        return sum(map(_is_create_call, self.stage.calls))

    def count_end_calls(self) -> int:
        """Return how many calls to deactivate a code the gateway has received."""
        return sum(map(_is_end_call, self.stage.calls))

    def hang_calls(self, should_hang: Callable[[ApiCall], bool]) -> None:
        """Make these calls hang at the gateway; it executes them when `release_hung` is set."""
        answer = self.stage.answer

        def hang(call: ApiCall) -> tuple[int, Any]:
            if should_hang(call):
                self.stage.release_hung.wait()
            return answer(call)

        self.stage.answer = hang  # type: ignore[method-assign]

    def rows(self) -> list[tuple[Any, ...]]:
        """Return status and gateway id of the codes."""
        return self.machine.rows(_CODES, self.shop.id)

    def make_jobs_due(self) -> None:
        """Make the jobs about codes due, which wait for a running request or after a failure of the gateway."""
        self.machine.execute(
            "update job set run_at = now() where organization_id = %s and run_at > now() and name like 'code.%%'",
            str(self.shop.id),
        )

    def check(self) -> None:
        """Wait until the code is active, and compare the API's list with the codes that the gateway has."""
        self.machine.wait_until(self._is_active, "the code is minted")
        (minted,) = self.books.list_live_ids(_TEXT)
        assert self.rows() == [("Active", minted)]
        status, codes = self.shop.call_api("GET", self.path)
        assert (status, [code["processorPromotionCodeId"] for code in codes["items"]]) == (200, [minted])
        assert len(self.machine.rows(_CREATED_EVENTS, self.shop.id)) == 1

    def _is_active(self) -> bool:
        self.make_jobs_due()
        return {status for status, _ in self.rows()} == {"Active"}

    def close(self) -> None:
        """Release the hanging calls, and wait for the requests."""
        self.stage.release_hung.set()
        self._pool.shutdown()


def _is_create_call(call: ApiCall) -> bool:
    is_shopify = b"discountCodeBasicCreate" in call.body
    return is_shopify or (call.method, call.path) == ("POST", "/v1/promotion_codes")


def _is_end_call(call: ApiCall) -> bool:
    is_shopify = b"discountCodeDelete" in call.body
    return is_shopify or (call.method == "POST" and call.path.startswith("/v1/promotion_codes/"))


@pytest.fixture(params=["stripe", "shopify"])
def minting(request: pytest.FixtureRequest, machine: Machine) -> Iterator[MintingScene]:
    """Return a brand whose coupon is created at Stripe, and whose codes are minted at Stripe or at Shopify."""
    with ExitStack() as stack:
        stage: StripeStage | ShopifyStage = StripeStage(machine.gateway_port)
        stack.callback(lambda: stage.stop())
        shop = stack.enter_context(closing(GatewayShop(machine, stage)))
        status, coupon = shop.call_api("POST", f"/api/v1/campaigns/{shop.brand.programs[-1]}/coupons", COUPON)
        assert status == 201, coupon
        if request.param == "shopify":
            stage.stop()
            stage = ShopifyStage(machine.gateway_port)
            body = {"gateway": "shopify", "mode": "live", "credentials": dict(stage.credentials)}
            status, answer = shop.call_api("POST", "/api/v1/connections", body)
            assert status == 201, answer
        yield stack.enter_context(closing(MintingScene(machine, shop, coupon["id"], stage)))


def test_web_kill_9_before_the_call_mints_the_code_once(machine: Machine, minting: MintingScene) -> None:
    # given: a web process that is killed when the database has the row and confirms the commit
    def is_written(read: bytes) -> bool:
        return b"COMMIT" in read and bool(machine.rows(_MINTING, minting.shop.id))

    killer = ProcessKiller(machine, "web", should_kill=is_written)
    machine.kill("web")
    with closing(Proxy(data_folder.resolve(machine.home).postgres_socket, on_reply=killer)) as proxy:
        machine.start("web", variables={"DATABASE_URL": proxy.url(machine.urls.database_url)})

        # when
        minting.send_request()
        killer.wait_until_dead()
    assert (minting.count_create_calls(), minting.rows()) == (0, [("Minting", None)])

    # then
    machine.start("web")
    minting.check()


def test_web_kill_9_after_the_call_mints_the_code_once(machine: Machine, minting: MintingScene) -> None:
    # given
    minting.hang_calls(_is_create_call)
    minting.send_request()
    machine.wait_until(lambda: minting.count_create_calls() > 0, "the gateway has received the call")

    # when: the gateway creates the code after the web process was killed
    machine.kill("web")
    minting.stage.release_hung.set()
    machine.wait_until(lambda: bool(minting.books.list_live_ids(_TEXT)), "the gateway has the code")
    assert minting.rows() == [("Minting", None)]

    # then
    machine.start("web")
    minting.check()


def test_worker_kill_9_while_minting_mints_the_code_once(machine: Machine, minting: MintingScene) -> None:
    # given: a request whose gateway was down, so that a job mints the code
    minting.stage.faults.extend(["fail"] * 2)
    minting.send_request()
    machine.wait_until(
        lambda: machine.rows(f"{_MINTING} and unanswered_at is not null", minting.shop.id),
        "the request has its response",
    )
    calls_before = minting.count_create_calls()
    minting.hang_calls(_is_create_call)
    minting.make_jobs_due()
    machine.wait_until(lambda: minting.count_create_calls() > calls_before, "the worker has called the gateway")

    # when
    machine.kill("gateways")
    minting.stage.release_hung.set()
    machine.wait_until(lambda: bool(minting.books.list_live_ids(_TEXT)), "the gateway has the code")
    assert minting.rows() == [("Minting", None)]

    # then
    machine.start("gateways")
    minting.check()


def test_web_kill_9_while_ending_a_code_still_ends_it(machine: Machine, minting: MintingScene) -> None:
    # given
    minting.send_request()
    minting.check()
    ((_, minted),) = minting.rows()
    ((code_id,),) = machine.rows("select id from affiliate_coupon where organization_id = %s", minting.shop.id)
    minting.hang_calls(_is_end_call)

    # when: the code is revoked, and the gateway has not responded
    minting.send_request("DELETE", f"/{code_id}")
    machine.wait_until(lambda: minting.count_end_calls() > 0, "the gateway has received the call")
    machine.kill("web")
    assert minting.rows() == [("Revoked", minted)]
    assert minting.books.list_live_ids(_TEXT) == [minted]
    minting.stage.release_hung.set()

    # then
    machine.start("web")
    deactivated = "select from affiliate_coupon where organization_id = %s and switched_off_at is not null"
    machine.wait_until(
        lambda: minting.make_jobs_due() or machine.rows(deactivated, minting.shop.id), "the code is deactivated"
    )
    assert minting.books.list_live_ids(_TEXT) == []
