"""A paid lead on the wire. Source: core spec, "Click and lead fraud review" (paid lead)."""

from typing import Any

from marshmallow import fields, post_load

from schemas.base import CleanedLine, Email, Wire, text

#: A human-verification token, of any service.
LONGEST_TOKEN = 4096


class PaidLeadBody(Wire):
    """A person who filled in the form of a referral. Loads to `slug`, `program_id`, `email`, `name` and `token`."""

    slug = text(shortest=1, longest=64, required=True)
    program_id = fields.UUID(load_default=None, allow_none=True)
    email = Email(required=True)
    name = CleanedLine(longest=200, load_default=None, allow_none=True)
    token = text(shortest=1, longest=LONGEST_TOKEN, required=True)

    @post_load
    def _fill(self, sent: dict[str, Any], **_: object) -> dict[str, Any]:
        return sent | {"name": (sent["name"] or "").strip() or None}


class PaidLeadAnswer(Wire):
    """The same for everybody: nobody learns whether the person was known, or what the fraud rules made of them."""

    ok = fields.Constant(True)
