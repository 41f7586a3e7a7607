"""A paid lead in the API. Source: core spec, "Click and lead fraud review" (paid lead)."""

from typing import Any

from marshmallow import fields, post_load

from schemas.base import CleanedLine, Email, Wire, text

#: A human-verification token, of any service.
MAX_TOKEN_CHARS = 4096


class PaidLeadBody(Wire):
    """A person who submitted the lead form. Loads to `slug`, `program_id`, `email`, `name` and `token`."""

    slug = text(shortest=1, longest=64, required=True)
    program_id = fields.UUID(load_default=None, allow_none=True)
    email = Email(required=True)
    name = CleanedLine(longest=200, load_default=None, allow_none=True)
    token = text(shortest=1, longest=MAX_TOKEN_CHARS, required=True)

    @post_load
    def _fill(self, body: dict[str, Any], **_: object) -> dict[str, Any]:
        return body | {"name": (body["name"] or "").strip() or None}


class PaidLeadAnswer(Wire):
    """The same for every lead: it does not disclose whether the person was known, or the verdict of the fraud rules."""

    ok = fields.Constant(True)
