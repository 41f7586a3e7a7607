"""An expected refusal of a request, with the stable code that clients branch on."""

from uuid import UUID


class Refused(Exception):
    """The rules refuse a request. The transaction around it rolls back.

    `status` is the HTTP status of the spec, `code` the stable string (empty: a response without a body), `message` is
    for people and may change, `field` names the invalid input, `more` are further body fields.
    Source: core spec, section 7 "Errors".
    """

    def __init__(self, status: int, code: str = "", message: str = "", *, field: str | None = None, **more: object):
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.field = field
        self.more = more


def not_found(what: str, key: UUID | str | None = None) -> Refused:
    """Return the refusal of a row that does not exist or belongs to another tenant; the two look the same."""
    name = f" {key}" if key else ""
    return Refused(404, "not_found", f"There is no {what}{name} in this organization.")
