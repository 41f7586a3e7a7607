"""Whom an operator lets in, as they are typed: addresses, and for how long."""

import click
from marshmallow import ValidationError

from schemas.base import Email

_LONGEST_TTL_S = 366 * 86_400
_LONGEST_EMAIL = 249  # a subject of "local:" and the address has room in 255

ttl_option = click.option(
    "--ttl-s", type=click.IntRange(1, _LONGEST_TTL_S), default=86_400, show_default=True, help="Seconds that it holds."
)


def usual_address(role: str) -> str:
    """Return the address of somebody of whom only the role is known."""
    return f"{role.lower()}@example.com"


def address(email: str) -> str:
    """Return an address as it is kept. Raises ClickException."""
    try:
        found: str = Email().deserialize(email)
    except ValidationError as error:
        raise click.ClickException(f"{email!r} is not a valid e-mail address.") from error
    if len(found) > _LONGEST_EMAIL:
        raise click.ClickException(f"The e-mail address is longer than {_LONGEST_EMAIL} characters.")
    return found
