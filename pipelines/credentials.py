"""Credentials of a service that a brand connects: validated as typed, stored sealed, unsealed for use."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import orjson

from adapters.gateways.base import CredentialField
from adapters.secret_key import sealing
from domain.refusals import Refused

_MAX_LENGTH = 4_096


def validate(
    label: str, fields: Sequence[CredentialField], values: Mapping[str, str], *, is_whole: bool
) -> dict[str, str]:
    """Return credentials stripped of surrounding space; with `is_whole` every required one must be present.

    Raises Refused 400 invalid_request.
    """
    by_name = {field.name: field for field in fields}
    for name, value in values.items():
        if name not in by_name:
            raise _refusal(name, f"{label} has no credential {name}; it has {', '.join(by_name)}.")
        if not isinstance(value, str) or not value.strip() or len(value) > _MAX_LENGTH or "\x00" in value:
            raise _refusal(name, f"{by_name[name].label} is a text of 1 to {_MAX_LENGTH} characters.")
    missing = [field.name for field in fields if field.required and field.name not in values]
    if is_whole and missing:
        raise _refusal(missing[0], f"{label} needs {', '.join(missing)}.")
    return {name: value.strip() for name, value in values.items()}


def seal(values: Mapping[str, str], connection_id: UUID) -> bytes:
    """Return credentials sealed for a connection."""
    return sealing.seal(orjson.dumps(dict(values)).decode(), belongs_to=str(connection_id))


def unseal(sealed: bytes, connection_id: UUID) -> dict[str, str]:
    """Return the credentials that `seal` sealed. Raises adapters.secret_key.sealing.CannotUnseal."""
    credentials: dict[str, str] = orjson.loads(sealing.unseal(sealed, belongs_to=str(connection_id)))
    return credentials


def _refusal(name: str, message: str) -> Refused:
    return Refused(400, "invalid_request", message, field=f"credentials.{name}")
