"""Notifications in the API, and the mark of what a person has read."""

from marshmallow import fields, validate

from domain.notifications.kinds import MAX_UNREAD, NotificationKind
from schemas.base import Instant, Wire, integer, one_of

# Beyond the number of any notification, and a valid number in JSON.
_LAST_NUMBER = 1_000_000_000_000


class NotificationRecord(Wire):
    """A notification: what happened, how often, and the page that it leads to.

    Amount, currency and affiliate are those of the first event; null where the notification has none.
    """

    id = fields.UUID()
    kind = one_of(tuple(NotificationKind))
    title = fields.String()
    event_count = fields.Integer()
    is_unread = fields.Boolean()
    url = fields.String()
    affiliate_id = fields.UUID(allow_none=True)
    affiliate_name = fields.String(allow_none=True)
    amount_cents = fields.Integer(allow_none=True)
    currency = fields.String(allow_none=True)
    first_at = Instant()
    last_at = Instant()


class NotificationPage(Wire):
    """A page of notifications, the latest first, with the person's number of unread ones (up to 100).

    `lastNumber` is the number of the latest notification; sending it back marks this page and all before it as read.
    """

    items = fields.List(fields.Nested(NotificationRecord))
    next_cursor = fields.String(allow_none=True)
    has_more = fields.Boolean()
    unread_count = fields.Integer(validate=validate.Range(max=MAX_UNREAD))
    last_number = fields.Integer()


class ReadMark(Wire):
    """Which notifications to mark as read: all up to `upToNumber`, a page's `lastNumber`; without it all."""

    up_to_number = integer(validate=validate.Range(min=0, max=_LAST_NUMBER), load_default=None, allow_none=True)


class UnreadCount(Wire):
    """The person's number of unread notifications, up to 100."""

    unread_count = fields.Integer()
