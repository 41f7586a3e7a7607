"""The rails that pay affiliates, and the fee on deals. A rail without its credentials is not offered."""

from dataclasses import dataclass

from domain.payouts import transfers
from settings.parsers import host_url, seconds_list, text, whole_number
from settings.table import Concern, group, required_setting, setting

_PROCESSOR = "https://api.stripe.com"
_WALLET = "https://api-m.paypal.com"


@dataclass(frozen=True, slots=True)
class Processor(Concern):
    """The payment processor's transfers."""

    key: str = required_setting(
        "PAYOUT_RAIL_PROCESSOR_KEY",
        text,
        "pays connected accounts (method ProcessorConnect) by transfers of the Stripe API",
        is_secret=True,
    )
    webhook_secret: str | None = setting(
        "PAYOUT_RAIL_PROCESSOR_WEBHOOK_SECRET", text, None, "verifies its events", is_secret=True
    )
    url: str = setting("PAYOUT_RAIL_PROCESSOR_URL", host_url(_PROCESSOR), _PROCESSOR, "where its API is")


@dataclass(frozen=True, slots=True)
class Wallet(Concern):
    """The wallet service; `webhook_id` names the webhook whose events are accepted."""

    client_id: str = required_setting(
        "PAYOUT_RAIL_WALLET_CLIENT_ID", text, "pays e-mail addresses (method Wallet) by the PayPal Payouts API"
    )
    secret: str = required_setting("PAYOUT_RAIL_WALLET_SECRET", text, "goes with the client id", is_secret=True)
    webhook_id: str | None = setting("PAYOUT_RAIL_WALLET_WEBHOOK_ID", text, None, "verifies its events")
    url: str = setting("PAYOUT_RAIL_WALLET_URL", host_url(_WALLET), _WALLET, "where its API is")


@dataclass(frozen=True, slots=True)
class GlobalPayouts(Concern):
    """Outbound payments from `financial_account`."""

    key: str = required_setting(
        "PAYOUT_RAIL_GLOBAL_KEY",
        text,
        "pays recipients (method GlobalPayouts) by outbound payments of the Stripe API",
        is_secret=True,
    )
    financial_account: str = required_setting(
        "PAYOUT_RAIL_GLOBAL_FINANCIAL_ACCOUNT", text, "the account that they are paid from"
    )
    webhook_secret: str | None = setting(
        "PAYOUT_RAIL_GLOBAL_WEBHOOK_SECRET", text, None, "verifies its events", is_secret=True
    )
    url: str = setting("PAYOUT_RAIL_GLOBAL_URL", host_url(_PROCESSOR), _PROCESSOR, "where its API is")


@dataclass(frozen=True, slots=True)
class Rails(Concern):
    """The rails that pay affiliates. The credentials of a rail are set together."""

    ask_again_s: tuple[int, ...] = setting(
        "PAYOUT_ASK_AGAIN_S",
        seconds_list,
        transfers.RETRY_DELAYS_S,
        "how long after each answer a rail is asked again about a payout that it has neither confirmed nor rejected;"
        " the last interval repeats",
    )
    deal_take_bps: int = setting(
        "DEAL_TAKE_BPS",
        whole_number(0, 10_000),
        0,
        "the fee that is charged on top of each milestone of a deal, in hundredths of a percent",
    )
    processor: Processor | None = group(Processor)
    wallet: Wallet | None = group(Wallet)
    global_payouts: GlobalPayouts | None = group(GlobalPayouts)
