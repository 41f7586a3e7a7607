"""Credentials of a service that a brand connects: what they typed is looked at, kept sealed, and opened again."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import orjson

from adapters import sealing
from adapters.gateways.base import CredentialField
from domain.refused import Refused

_LONGEST = 4_096


def typed(label: str, fields: Sequence[CredentialField], sent: Mapping[str, str], *, is_whole: bool) -> dict[str, str]:
    """Return credentials without the space around them; `is_whole` ones must all be there that the service needs.

    Raises Refused 400 invalid_request.
    """
    known = {field.name: field for field in fields}
    for name, value in sent.items():
        if name not in known:
            raise _invalid(name, f"{label} has no credential {name}; it has {', '.join(known)}.")
        if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST or "\x00" in value:
            raise _invalid(name, f"{known[name].label} is a text of 1 to {_LONGEST} characters.")
    missing = [field.name for field in fields if field.required and field.name not in sent]
    if is_whole and missing:
        raise _invalid(missing[0], f"{label} needs {', '.join(missing)}.")
    return {name: value.strip() for name, value in sent.items()}


def sealed(values: Mapping[str, str], connection_id: UUID) -> bytes:
    """Return names and values sealed for a connection."""
    return sealing.seal(orjson.dumps(dict(values)).decode(), belongs_to=str(connection_id))


def opened(values: bytes, connection_id: UUID) -> dict[str, str]:
    """Return what `sealed` sealed. Raises adapters.sealing.CannotUnseal."""
    found: dict[str, str] = orjson.loads(sealing.unseal(values, belongs_to=str(connection_id)))
    return found


def _invalid(name: str, message: str) -> Refused:
    return Refused(400, "invalid_request", message, field=f"credentials.{name}")
