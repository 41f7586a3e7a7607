"""The addresses of the APIs of gateways and platforms, for tests and for installations that reach them by a proxy."""

from collections.abc import Mapping
from dataclasses import dataclass

from domain.gateways.names import Gateway
from domain.platforms.names import Platform
from settings.parsers import host_url
from settings.table import Concern, NamedValue, named_values

_KINDS = {"GATEWAY": Gateway, "PLATFORM": Platform}


@dataclass(frozen=True, slots=True)
class Addresses(Concern):
    """The addresses of other APIs. Those of payout rails are set with their credentials."""

    apis: Mapping[str, str | None] = named_values(
        "API_ADDRESSES",
        {
            name.value: NamedValue(
                host_url("its own address"), None, f"the API of {name}", f"{kind}_{name.upper()}_URL"
            )
            for kind, names in _KINDS.items()
            for name in names
        },
        "scheme and host that replace those of an API of a payment gateway, newsletter or CRM platform; `make run` sets"
        " `stripe` to the demo's gateway if it is not set",
        example="https://api.example.com",
    )
