"""Email addresses and validity periods as the operator types them for tokens and sign-in links."""

import click
from marshmallow import ValidationError

from schemas.base import Email

_MAX_TTL_S = 366 * 86_400
_MAX_EMAIL_LENGTH = 249  # a subject of "local:" and the address has room in 255

ttl_option = click.option(
    "--ttl-s", type=click.IntRange(1, _MAX_TTL_S), default=86_400, show_default=True, help="Seconds of validity."
)


def default_address(role: str) -> str:
    """Return the default address of a user of whom only the role is known."""
    return f"{role.lower()}@example.com"


def parse_address(email: str) -> str:
    """Return an email address as it is stored. Raises ClickException."""
    try:
        address: str = Email().deserialize(email)
    except ValidationError as error:
        raise click.ClickException(f"{email!r} is not a valid e-mail address.") from error
    if len(address) > _MAX_EMAIL_LENGTH:
        raise click.ClickException(f"The e-mail address is longer than {_MAX_EMAIL_LENGTH} characters.")
    return address
