"""Where the demo's servers are on this machine, and the settings under which the service calls them there."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click

import settings

#: The gateway that is played.
GATEWAY = "stripe"


def is_wanted(chosen: settings.Settings) -> bool:
    """Say whether `flask up` brings the demo along: on a private machine, never on somebody's own database."""
    return chosen.servers.database_url is None


def receiver(chosen: settings.Settings) -> tuple[str, int]:
    """Return the address and port of the webhook receiver."""
    return "127.0.0.1", chosen.web.port + 1


@contextmanager
def listening(role: str, address: tuple[str, int]) -> Iterator[None]:
    """Make the server of a role inside, which listens on this address. Raises ClickException for a port in use."""
    try:
        yield
    except (OSError, OverflowError) as error:
        raise click.ClickException(
            f"The demo's {role} cannot be played on port {address[1]} of 127.0.0.1 ({error})."
            " Next: stop what uses that port, or set another PORT; the demo takes the two after it"
        ) from error


def certificate_folder(chosen: settings.Settings) -> Path:
    """Return the folder of the receiver's cert.pem and key.pem, which `flask up` makes."""
    return chosen.servers.data_dir / "receiver"


def gateway(chosen: settings.Settings) -> tuple[str, int]:
    """Return the address and port of the gateway that is played."""
    return "127.0.0.1", chosen.web.port + 2


def gateway_url(chosen: settings.Settings) -> str:
    """Return where its API is."""
    address, port = gateway(chosen)
    return f"http://{address}:{port}"


def is_gateway_played(chosen: settings.Settings) -> bool:
    """Return whether the demo plays the gateway: not if the operator has set an address for stripe."""
    return is_wanted(chosen) and chosen.addresses.apis[GATEWAY] in (None, gateway_url(chosen))


def is_gateway_called(chosen: settings.Settings) -> bool:
    """Say whether this process calls the gateway that is played in place of stripe."""
    return is_wanted(chosen) and chosen.addresses.apis[GATEWAY] == gateway_url(chosen)


def gateway_environment(chosen: settings.Settings) -> dict[str, str]:
    """Return the settings under which stripe is the gateway that is played; none where the operator chose."""
    if not is_gateway_played(chosen):
        return {}
    addresses = {**chosen.addresses.apis, GATEWAY: gateway_url(chosen)}
    return {"API_ADDRESSES": " ".join(f"{name}={address}" for name, address in addresses.items() if address)}


def call_gateway_here() -> None:
    """Have this process call the gateway that is played, as the processes of `flask up` do."""
    chosen = settings.current()
    if is_gateway_played(chosen) and not is_gateway_called(chosen):
        settings.replace_old_names(os.environ)
        os.environ.update(gateway_environment(chosen))
        settings.current.cache_clear()


def receiver_environment(chosen: settings.Settings, given: Mapping[str, str]) -> dict[str, str]:
    """Return the settings under which webhooks may go to the demo receiver on this machine.

    What the operator has `given` stands: of private addresses only the receiver's own is added, and to the
    certificates only its own. Raises ClickException when the operator's bundle cannot be read.
    """
    from commands.demo import certificate  # makes one, with libraries that who only shows it does without

    try:
        bundle = certificate.trusted(chosen.servers.data_dir, beside=chosen.webhooks.ca_bundle)
    except OSError as error:
        raise click.ClickException(f"WEBHOOK_CA_BUNDLE cannot be read: {error}") from error
    also = [*filter(None, [given.get("WEBHOOK_ALSO_ALLOW", "").strip(" ,")]), ":".join(map(str, receiver(chosen)))]
    return {
        "WEBHOOK_ALLOW_PRIVATE": given.get("WEBHOOK_ALLOW_PRIVATE", "").strip() or "on",
        "WEBHOOK_ALSO_ALLOW": ",".join(also),
        "WEBHOOK_CA_BUNDLE": str(bundle),
    }
