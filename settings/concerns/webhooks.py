"""How webhooks are sent."""

from dataclasses import dataclass

from domain.webhooks import delivery
from settings.parsers import addresses, seconds_list, switch, text, whole_number
from settings.table import Concern, setting


@dataclass(frozen=True, slots=True)
class Webhooks(Concern):
    """When webhooks are sent, and to which addresses."""

    attempts_at_s: tuple[int, ...] = setting(
        "WEBHOOK_ATTEMPTS_AT_S", seconds_list, delivery.ATTEMPTS_AT_S, "when the attempts are made, after the event"
    )
    timeout_s: int = setting(
        "WEBHOOK_TIMEOUT_S", whole_number(1, 60), delivery.TIMEOUT_S, "wall-clock limit of one attempt"
    )
    allow_private: bool = setting(
        "WEBHOOK_ALLOW_PRIVATE",
        switch,
        False,
        "`on` allows webhooks to private addresses, and to this machine by `http://` too: development only. `make run`"
        " with the embedded servers uses `on` if it is not set; with `off` only its own receiver is reached",
    )
    also_allow: tuple[tuple[str, int], ...] = setting(
        "WEBHOOK_ALSO_ALLOW",
        addresses,
        (),
        "private addresses with their ports that webhooks may be sent to nevertheless, if the URL contains the address:"
        " `127.0.0.1:8443,…`. `make run` adds the demo's receiver",
    )
    ca_bundle: str | None = setting(
        "WEBHOOK_CA_BUNDLE",
        text,
        None,
        "certificates of authorities that webhook receivers may use. `make run` adds that of the demo's receiver"
        " to yours",
        default_text="public authorities",
    )
