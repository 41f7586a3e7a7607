"""The four rails, each with the service behind it, so that one suite can ask the same of all."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from adapters import clock
from adapters.rails.base import Rail
from adapters.rails.global_payouts import GlobalPayoutsRail
from adapters.rails.processor_connect import ProcessorConnectRail
from adapters.rails.wallet import WalletRail
from domain.payouts.transfers import Destination, Method, Transfer, key_of
from models import ids
from pipelines.payouts.sandbox_rail import SandboxRail, is_carried_out
from tests.adapters.rails import fake_processor as fake

ACCOUNTS = {
    "ProcessorConnect": "acct_1Nv0FGQ9RKHgCVdK",
    "Wallet": "Ben.Wallet@example.com",
    "GlobalPayouts": "acct_test_61Nyc6oHjbwlpjhv",
}
OTHERS = {
    "ProcessorConnect": "acct_1Another00000000",
    "Wallet": "somebody.else@example.com",
    "GlobalPayouts": "acct_test_61Another000",
}
# Long enough for a machine that is busy with other tests; those of a silent service wait for it.
TIMEOUT_S = 2


@dataclass
class Place:
    """A rail and what stands behind it. `misbehave` makes its next request that would move money go wrong."""

    rail: Rail
    organization_id: UUID
    books: Callable[[], list[tuple[str, str, str]]]
    misbehave: Callable[[str], None]
    service: fake.FakeProcessor | None = None
    payout_id: UUID = field(default_factory=ids.new_id)

    @property
    def method(self) -> Method:
        """The rail's method."""
        return self.rail.method

    def transfer(self, **changes: Any) -> Transfer:
        """Return the transfer of this place's payout: 12.34 USD at the first attempt; changes override."""
        payout_id, attempt = changes.pop("payout_id", self.payout_id), changes.pop("attempt", 1)
        account = changes.pop("account", ACCOUNTS[self.method])
        values = {
            "key": key_of(payout_id=payout_id, attempt=attempt),
            "payout_id": payout_id,
            "organization_id": self.organization_id,
            "attempt": attempt,
            "amount_cents": 1234,
            "currency": "USD",
            "destination": Destination(self.method, account),
        }
        return Transfer(**(values | changes))


def over_http(service: fake.FakeProcessor, method: str) -> Place:
    """Return one of the real rails with the fake service behind it."""
    stripe = {"url": service.url, "key": fake.KEY, "webhook_secret": fake.WEBHOOK_SECRET, "timeout_s": TIMEOUT_S}
    rails: dict[str, Callable[[], Rail]] = {
        "ProcessorConnect": lambda: ProcessorConnectRail(**stripe),
        "GlobalPayouts": lambda: GlobalPayoutsRail(**stripe, financial_account=fake.FINANCIAL_ACCOUNT),
        "Wallet": lambda: WalletRail(
            url=service.url,
            client_id=fake.CLIENT_ID,
            secret=fake.CLIENT_SECRET,
            webhook_id=fake.WEBHOOK_ID,
            timeout_s=TIMEOUT_S,
        ),
    }
    return Place(
        rail=rails[method](),
        organization_id=ids.new_id(),
        books=lambda: [(one.key, one.amount.replace(".", ""), one.account) for one in service.books],
        misbehave=service.next,
        service=service,
    )


def sandbox(brand: Any, method: Method = Method.ProcessorConnect) -> Place:
    """Return the sandbox of a brand; to misbehave it changes its mode and picks a payout with the wanted fate."""
    modes = {"reject": "fail", "500_before": "ambiguous", "500_after": "ambiguous", "pending": "slow"}

    def misbehave(fault: str) -> None:
        place.rail = SandboxRail(method=method, mode=modes[fault], now=clock.now())
        is_wanted = fault == "500_after"
        while is_carried_out(key_of(payout_id=place.payout_id, attempt=1)) != is_wanted:
            place.payout_id = ids.new_id()

    place = Place(
        rail=SandboxRail(method=method, mode="ok", now=clock.now()),
        organization_id=brand.id,
        books=lambda: brand.rows(
            "select key, amount_cents::text, account from sandbox_transfer where state in ('Paid', 'Accepted')"
        ),
        misbehave=misbehave,
    )
    return place
