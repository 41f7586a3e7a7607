"""Whoever mints a code is killed at every point: the gateway has it once, and the list agrees with its books."""

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
_TOLD = "select from event where organization_id = %s and type = 'affiliate_coupon.created'"
_TEXT = "SPRING"


class Mint:
    """A brand with a coupon, the gateway where its codes are minted, and that gateway's books."""

    def __init__(self, machine: Machine, till: GatewayShop, coupon_id: str, stage: StripeStage | ShopifyStage) -> None:
        self.machine, self.till, self.stage = machine, till, stage
        self.books: CodeBooks = stage.codes
        self._coupon_id = coupon_id
        self._key = till.brand.person("Owner").api_key
        self._pool = ThreadPoolExecutor(1)

    @property
    def path(self) -> str:
        """Where ben's codes are."""
        return f"/api/v1/affiliates/{self.till.ben}/coupons"

    def ask(self, method: str = "POST", path: str = "") -> None:
        """Ask for a code, or for something else about it, and do not wait for the answer."""
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        body = json.dumps({"campaignCouponId": self._coupon_id, "code": _TEXT}).encode() if method == "POST" else b""
        self._pool.submit(self.till.send_once, self.path + path, body, headers, method)

    def makes(self) -> int:
        """Return how often the gateway was asked to make a code."""
        return sum(map(_is_making, self.stage.calls))

    def ends(self) -> int:
        """Return how often the gateway was asked to end a code."""
        return sum(map(_is_ending, self.stage.calls))

    def hang_in(self, is_held: Callable[[ApiCall], bool]) -> None:
        """Have the gateway hold such calls, and act on them when `release_hung` is set."""
        answer = self.stage.answer

        def held(asked: ApiCall) -> tuple[int, Any]:
            if is_held(asked):
                self.stage.release_hung.wait()
            return answer(asked)

        self.stage.answer = held  # type: ignore[method-assign]

    def rows(self) -> list[tuple[Any, ...]]:
        """Return the codes with their ids there."""
        return self.machine.rows(_CODES, self.till.id)

    def hurry(self) -> None:
        """Let the time pass that a request is left alone, and what is waited for a gateway that is away."""
        self.machine.execute(
            "update job set run_at = now() where organization_id = %s and run_at > now() and name like 'code.%%'",
            str(self.till.id),
        )

    def check(self) -> None:
        """Wait until nothing is being minted, and compare the list with the gateway's own books."""
        self.machine.wait_until(self._hurried, "the code is minted")
        (minted,) = self.books.list_live_ids(_TEXT)
        assert self.rows() == [("Active", minted)]
        status, listed = self.till.call_api("GET", self.path)
        assert (status, [one["processorPromotionCodeId"] for one in listed["items"]]) == (200, [minted])
        assert len(self.machine.rows(_TOLD, self.till.id)) == 1

    def _hurried(self) -> bool:
        self.hurry()
        return {status for status, _ in self.rows()} == {"Active"}

    def close(self) -> None:
        """Let everybody go who waits."""
        self.stage.release_hung.set()
        self._pool.shutdown()


def _is_making(asked: ApiCall) -> bool:
    is_store = b"discountCodeBasicCreate" in asked.body
    return is_store or (asked.method, asked.path) == ("POST", "/v1/promotion_codes")


def _is_ending(asked: ApiCall) -> bool:
    is_store = b"discountCodeDelete" in asked.body
    return is_store or (asked.method == "POST" and asked.path.startswith("/v1/promotion_codes/"))


@pytest.fixture(params=["stripe", "shopify"])
def mint(request: pytest.FixtureRequest, machine: Machine) -> Iterator[Mint]:
    """Return a brand whose coupon is made at stripe, and whose codes are minted there or at its store."""
    with ExitStack() as stack:
        stage: StripeStage | ShopifyStage = StripeStage(machine.gateway_port)
        stack.callback(lambda: stage.stop())
        till = stack.enter_context(closing(GatewayShop(machine, stage)))
        status, made = till.call_api("POST", f"/api/v1/campaigns/{till.brand.programs[-1]}/coupons", COUPON)
        assert status == 201, made
        if request.param == "shopify":
            stage.stop()
            stage = ShopifyStage(machine.gateway_port)
            wanted = {"gateway": "shopify", "mode": "live", "credentials": dict(stage.credentials)}
            status, answer = till.call_api("POST", "/api/v1/connections", wanted)
            assert status == 201, answer
        yield stack.enter_context(closing(Mint(machine, till, made["id"], stage)))


def test_web_kill_9_before_the_call_mints_the_code_once(machine: Machine, mint: Mint) -> None:
    # given: a web process that dies in the moment in which the database has the row, and says so
    def is_written(read: bytes) -> bool:
        return b"COMMIT" in read and bool(machine.rows(_MINTING, mint.till.id))

    dying = ProcessKiller(machine, "web", should_kill=is_written)
    machine.kill("web")
    with closing(Proxy(data_folder.resolve(machine.home).postgres_socket, on_reply=dying)) as proxy:
        machine.start("web", variables={"DATABASE_URL": proxy.url(machine.urls.database_url)})

        # when
        mint.ask()
        dying.wait_until_dead()
    assert (mint.makes(), mint.rows()) == (0, [("Minting", None)])

    # then
    machine.start("web")
    mint.check()


def test_web_kill_9_after_the_call_mints_the_code_once(machine: Machine, mint: Mint) -> None:
    # given
    mint.hang_in(_is_making)
    mint.ask()
    machine.wait_until(lambda: mint.makes() > 0, "the gateway is asked for the code")

    # when: the gateway acts after whoever asked is dead
    machine.kill("web")
    mint.stage.release_hung.set()
    machine.wait_until(lambda: bool(mint.books.list_live_ids(_TEXT)), "the gateway has the code")
    assert mint.rows() == [("Minting", None)]

    # then
    machine.start("web")
    mint.check()


def test_worker_kill_9_while_minting_mints_the_code_once(machine: Machine, mint: Mint) -> None:
    # given: a request whose gateway was away, so that a job does it
    mint.stage.faults.extend(["fail"] * 2)
    mint.ask()
    machine.wait_until(
        lambda: machine.rows(f"{_MINTING} and unanswered_at is not null", mint.till.id), "the request is answered"
    )
    before = mint.makes()
    mint.hang_in(_is_making)
    mint.hurry()
    machine.wait_until(lambda: mint.makes() > before, "the worker has asked the gateway for the code")

    # when
    machine.kill("gateways")
    mint.stage.release_hung.set()
    machine.wait_until(lambda: bool(mint.books.list_live_ids(_TEXT)), "the gateway has the code")
    assert mint.rows() == [("Minting", None)]

    # then
    machine.start("gateways")
    mint.check()


def test_web_kill_9_while_ending_a_code_still_ends_it(machine: Machine, mint: Mint) -> None:
    # given
    mint.ask()
    mint.check()
    ((_, minted),) = mint.rows()
    ((code_id,),) = machine.rows("select id from affiliate_coupon where organization_id = %s", mint.till.id)
    mint.hang_in(_is_ending)

    # when: it is revoked here, and the gateway has not answered
    mint.ask("DELETE", f"/{code_id}")
    machine.wait_until(lambda: mint.ends() > 0, "the gateway is asked to end it")
    machine.kill("web")
    assert mint.rows() == [("Revoked", minted)]
    assert mint.books.list_live_ids(_TEXT) == [minted]
    mint.stage.release_hung.set()

    # then
    machine.start("web")
    ended = "select from affiliate_coupon where organization_id = %s and switched_off_at is not null"
    machine.wait_until(lambda: mint.hurry() or machine.rows(ended, mint.till.id), "the code has ended")
    assert mint.books.list_live_ids(_TEXT) == []
