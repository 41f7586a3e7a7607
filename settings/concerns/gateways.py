"""Where the APIs of the payment gateways are, for an installation that reaches them another way."""

from collections.abc import Mapping
from dataclasses import dataclass

from domain.gateways.names import Gateway
from settings.parsers import host_url
from settings.table import Concern, Variable, family

_UNDER_MAKE_RUN = {Gateway.Stripe: ". `make run` leads it to the demo's gateway where it is not set"}


@dataclass(frozen=True, slots=True)
class Gateways(Concern):
    """Scheme and host that replace a gateway's own, by its name; None: its own."""

    urls: Mapping[str, str | None] = family(
        {
            name.value: Variable(
                f"GATEWAY_{name.upper()}_URL",
                host_url("the gateway's own address"),
                None,
                f"replaces scheme and host of the API of {name}{_UNDER_MAKE_RUN.get(name, '')}",
                shown="its own",
            )
            for name in Gateway
        }
    )
