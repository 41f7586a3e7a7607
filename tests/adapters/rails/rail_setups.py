"""The four rails, each with its fake service, so that one suite can test all of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import UUID

from adapters import clock, http_calls
from adapters.rails.base import Rail
from adapters.rails.global_payouts import GlobalPayoutsRail
from adapters.rails.processor_connect import ProcessorConnectRail
from adapters.rails.wallet import WalletRail
from domain.payouts.transfers import Answer, Destination, Method, Transfer, idempotency_key
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
# The timeout of a request that the service lets hang. All other requests have the product's timeout, so that a
# machine busy with other tests does not look like a silent service.
TIMEOUT_S = 2


@dataclass
class RailSetup:
    """A rail and its service. `misbehave` sets a fault for the next request that would move money."""

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
        """Return the transfer of this setup's payout: 12.34 USD at the first attempt; changes override."""
        payout_id, attempt = changes.pop("payout_id", self.payout_id), changes.pop("attempt", 1)
        account = changes.pop("account", ACCOUNTS[self.method])
        values = {
            "key": idempotency_key(payout_id=payout_id, attempt=attempt),
            "payout_id": payout_id,
            "organization_id": self.organization_id,
            "attempt": attempt,
            "amount_cents": 1234,
            "currency": "USD",
            "destination": Destination(self.method, account),
        }
        return Transfer(**(values | changes))


class _ShortTimeoutRail:
    """A rail whose next transfer has a short timeout; afterwards the setup uses its own rail again."""

    def __init__(self, rail_setup: RailSetup, short_timeout_rail: Rail) -> None:
        self._setup, self._own, self._short_timeout_rail = rail_setup, rail_setup.rail, short_timeout_rail

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def send(self, transfer: Transfer) -> Answer:
        self._setup.rail = self._own
        return self._short_timeout_rail.send(transfer)


def over_http(service: fake.FakeProcessor, method: str) -> RailSetup:
    """Return one of the real rails with the fake service behind it."""

    def misbehave(fault: str) -> None:
        service.set_faults(fault)
        if fault.startswith("hang"):
            rail_setup.rail = cast(Rail, _ShortTimeoutRail(rail_setup, _rail(service, method, TIMEOUT_S)))

    rail_setup = RailSetup(
        rail=_rail(service, method, http_calls.WHOLE_CALL_S),
        organization_id=ids.new_id(),
        books=lambda: [(booking.key, booking.amount.replace(".", ""), booking.account) for booking in service.books],
        misbehave=misbehave,
        service=service,
    )
    return rail_setup


def _rail(service: fake.FakeProcessor, method: str, timeout_s: float) -> Rail:
    stripe = {"url": service.url, "key": fake.KEY, "webhook_secret": fake.WEBHOOK_SECRET, "timeout_s": timeout_s}
    rails: dict[str, Callable[[], Rail]] = {
        "ProcessorConnect": lambda: ProcessorConnectRail(**stripe),
        "GlobalPayouts": lambda: GlobalPayoutsRail(**stripe, financial_account=fake.FINANCIAL_ACCOUNT),
        "Wallet": lambda: WalletRail(
            url=service.url,
            client_id=fake.CLIENT_ID,
            secret=fake.CLIENT_SECRET,
            webhook_id=fake.WEBHOOK_ID,
            timeout_s=timeout_s,
        ),
    }
    return rails[method]()


def sandbox(brand: Any, method: Method = Method.ProcessorConnect) -> RailSetup:
    """Return the sandbox of a brand; to misbehave it changes its mode and picks a payout with the matching outcome."""
    modes = {"reject": "fail", "500_before": "ambiguous", "500_after": "ambiguous", "pending": "slow"}

    def misbehave(fault: str) -> None:
        rail_setup.rail = SandboxRail(method=method, mode=modes[fault], now=clock.now())
        is_wanted = fault == "500_after"
        while is_carried_out(idempotency_key(payout_id=rail_setup.payout_id, attempt=1)) != is_wanted:
            rail_setup.payout_id = ids.new_id()

    rail_setup = RailSetup(
        rail=SandboxRail(method=method, mode="ok", now=clock.now()),
        organization_id=brand.id,
        books=lambda: brand.rows(
            "select key, amount_cents::text, account from sandbox_transfer where state in ('Paid', 'Accepted')"
        ),
        misbehave=misbehave,
    )
    return rail_setup
