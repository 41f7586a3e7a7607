"""Payout accounts in the API, visible only to their owner.

Source: core spec, "Payout" (method) and "Affiliate" (what other answers leave out).
"""

from collections.abc import Callable, Mapping
from typing import Any

from marshmallow import ValidationError, fields, validate, validates_schema

from domain.payouts import destinations
from domain.payouts.transfers import Method
from schemas.base import NEEDED, Email, Instant, Wire, one_of


def _if(holds: Callable[[str], bool]) -> Callable[[str], None]:
    def check(value: str) -> None:
        if not holds(value):
            raise ValidationError("Not the id of an account.")

    return check


_MOST = destinations.MAX_ID_CHARS


class PayoutAccountBody(Wire):
    """A method with its one account; method null removes the account."""

    method = one_of(Method, required=True, allow_none=True, metadata=NEEDED)
    wallet_email = Email(
        load_default=None, allow_none=True, validate=validate.Length(max=destinations.MAX_WALLET_EMAIL_CHARS)
    )
    connected_account_id = fields.String(
        load_default=None,
        allow_none=True,
        validate=[validate.Length(max=_MOST), _if(destinations.is_connected_account)],
    )
    recipient_id = fields.String(
        load_default=None, allow_none=True, validate=[validate.Length(max=_MOST), _if(destinations.is_recipient)]
    )

    @validates_schema(skip_on_field_errors=True)
    def _one_account(self, data: Mapping[str, Any], **_: object) -> None:
        needed = destinations.FIELDS.get(data["method"])
        errors = {
            name: ["Required for this method."] if name == needed else ["Not an account of this method."]
            for name in destinations.FIELDS.values()
            if (data[name] is not None) != (name == needed)
        }
        if errors:
            raise ValidationError({self.fields[name].data_key or name: messages for name, messages in errors.items()})


class PayoutAccountState(Wire):
    """The caller's payout account; all null without one."""

    method = one_of(Method, allow_none=True)
    wallet_email = fields.String(allow_none=True)
    connected_account_id = fields.String(allow_none=True)
    recipient_id = fields.String(allow_none=True)
    changed_at = Instant(allow_none=True)
