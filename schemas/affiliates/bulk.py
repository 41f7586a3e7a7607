"""Bulk actions on affiliates, on the wire.

Source: core spec, "Affiliates" (bulk-action, bulk approve and pause) and section 8 "Limits".
"""

from marshmallow import fields

from schemas.base import Wire, one_of
from schemas.bounded import Items

ACTIONS = ("approve", "pause", "delete")

_MOST_FOR_API = 200
_MOST_AT_DASHBOARD = 500


class BulkAction(Wire):
    """An action on up to 200 affiliates. There is no way to say "all"."""

    affiliate_ids = Items(fields.UUID(), most=_MOST_FOR_API, least=1, required=True)
    action = one_of(ACTIONS, required=True)


class BulkIds(Wire):
    """Up to 500 affiliates whom a person selected."""

    ids = Items(fields.UUID(), most=_MOST_AT_DASHBOARD, least=1, required=True)


class BulkOutcome(Wire):
    """How many the action took, how many it left alone, and whom it took."""

    action = one_of(ACTIONS)
    affected = fields.Integer()
    skipped = fields.Integer()
    affiliate_ids = fields.List(fields.UUID())


class BulkApproved(Wire):
    """How many were approved, and how many left alone."""

    affected = fields.Integer()
    skipped = fields.Integer()
    approved = fields.Integer()


class BulkPaused(Wire):
    """How many were paused, and how many left alone."""

    affected = fields.Integer()
    skipped = fields.Integer()
    paused = fields.Integer()
