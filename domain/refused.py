"""The one way to say no: an anticipated refusal with the stable code that clients branch on."""

from uuid import UUID


class Refused(Exception):
    """A request that the rules turn down. The transaction around it rolls back.

    `status` is the HTTP status the spec gives it, `code` the stable string (empty: an answer without a body),
    `message` is for people and may change, `field` names the input at fault, `more` are further body fields.
    Source: core spec, section 7 "Errors".
    """

    def __init__(self, status: int, code: str = "", message: str = "", *, field: str | None = None, **more: object):
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.field = field
        self.more = more


def not_found(what: str, wanted: UUID | str | None = None) -> Refused:
    """Return the refusal for a row that is absent or belongs to somebody else; the two look the same."""
    named = f" {wanted}" if wanted else ""
    return Refused(404, "not_found", f"There is no {what}{named} in this organization.")
