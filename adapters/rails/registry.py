"""The configured rails, by payout method."""

import functools

import settings
from adapters.rails.base import Rail
from adapters.rails.global_payouts import GlobalPayoutsRail
from adapters.rails.processor_connect import ProcessorConnectRail
from adapters.rails.wallet import WalletRail
from domain.payouts.transfers import Method
from settings.concerns.rails import Rails


def find_rail(method: Method) -> Rail | None:
    """Return the rail of a method, None if the operator has not configured it."""
    return _configured_rails().get(method)


def build(access: Rails) -> dict[Method, Rail]:
    """Return the configured rails by method."""
    rails: dict[Method, Rail] = {}
    if at := access.processor:
        rails[Method.ProcessorConnect] = ProcessorConnectRail(url=at.url, key=at.key, webhook_secret=at.webhook_secret)
    if service := access.wallet:
        rails[Method.Wallet] = WalletRail(
            url=service.url, client_id=service.client_id, secret=service.secret, webhook_id=service.webhook_id
        )
    if other := access.global_payouts:
        rails[Method.GlobalPayouts] = GlobalPayoutsRail(
            url=other.url,
            key=other.key,
            webhook_secret=other.webhook_secret,
            financial_account=other.financial_account,
        )
    return rails


@functools.cache
def _configured_rails() -> dict[Method, Rail]:
    return build(settings.current().rails)
