"""Addresses of the demo's servers on this machine, and the settings by which the service calls them."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click

import settings

#: The gateway that the demo simulates.
GATEWAY = "stripe"


def is_demo_enabled(config: settings.Settings) -> bool:
    """Return whether `flask up` runs the demo: never on a database of the operator's own."""
    return config.servers.database_url is None


def receiver_address(config: settings.Settings) -> tuple[str, int]:
    """Return the address and port of the webhook receiver."""
    return "127.0.0.1", config.web.port + 1


@contextmanager
def listening(role: str, address: tuple[str, int]) -> Iterator[None]:
    """Create the server of a role in this context. Raises ClickException if its port is in use."""
    try:
        yield
    except (OSError, OverflowError) as error:
        raise click.ClickException(
            f"The demo's {role} cannot listen on port {address[1]} of 127.0.0.1 ({error})."
            " Next: stop the program that uses that port, or set another PORT; the demo uses the two ports after it"
        ) from error


def certificate_folder(config: settings.Settings) -> Path:
    """Return the folder of the receiver's cert.pem and key.pem, which `flask up` creates."""
    return config.servers.data_dir / "receiver"


def gateway_address(config: settings.Settings) -> tuple[str, int]:
    """Return the address and port of the simulated gateway."""
    return "127.0.0.1", config.web.port + 2


def gateway_url(config: settings.Settings) -> str:
    """Return the base URL of its API."""
    address, port = gateway_address(config)
    return f"http://{address}:{port}"


def is_gateway_simulated(config: settings.Settings) -> bool:
    """Return whether the demo simulates the gateway: not if the operator has set an address for stripe."""
    return is_demo_enabled(config) and config.addresses.apis[GATEWAY] in (None, gateway_url(config))


def is_gateway_called(config: settings.Settings) -> bool:
    """Return whether this process calls the simulated gateway in place of stripe."""
    return is_demo_enabled(config) and config.addresses.apis[GATEWAY] == gateway_url(config)


def gateway_environment(config: settings.Settings) -> dict[str, str]:
    """Return the settings that replace stripe by the simulated gateway; {} if the operator has set an address."""
    if not is_gateway_simulated(config):
        return {}
    addresses = {**config.addresses.apis, GATEWAY: gateway_url(config)}
    return {"API_ADDRESSES": " ".join(f"{name}={address}" for name, address in addresses.items() if address)}


def use_simulated_gateway() -> None:
    """Make this process call the simulated gateway, as the processes of `flask up` do."""
    config = settings.current()
    if is_gateway_simulated(config) and not is_gateway_called(config):
        settings.replace_old_names(os.environ)
        os.environ.update(gateway_environment(config))
        settings.current.cache_clear()


def receiver_environment(config: settings.Settings, given: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that allow webhooks to the demo receiver on this machine.

    The operator's `given` settings stay in force: only the receiver's address is added to the private addresses, and
    only its certificate to the bundle. Raises ClickException if the operator's bundle cannot be read.
    """
    from commands.demo import certificate  # its libraries are needed only to create one

    try:
        bundle = certificate.write_bundle(config.servers.data_dir, base_bundle=config.webhooks.ca_bundle)
    except OSError as error:
        raise click.ClickException(f"WEBHOOK_CA_BUNDLE cannot be read: {error}") from error
    also = [
        *filter(None, [given.get("WEBHOOK_ALSO_ALLOW", "").strip(" ,")]),
        ":".join(map(str, receiver_address(config))),
    ]
    return {
        "WEBHOOK_ALLOW_PRIVATE": given.get("WEBHOOK_ALLOW_PRIVATE", "").strip() or "on",
        "WEBHOOK_ALSO_ALLOW": ",".join(also),
        "WEBHOOK_CA_BUNDLE": str(bundle),
    }
