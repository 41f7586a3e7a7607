"""Bulk actions on affiliates, in the API.

Source: core spec, "Affiliates" (bulk-action, bulk approve and pause) and section 8 "Limits".
"""

from marshmallow import fields

from schemas.base import Wire, one_of
from schemas.collection_fields import Items

ACTIONS = ("approve", "pause", "delete")

_MAX_FOR_API = 200
_MAX_AT_DASHBOARD = 500


class BulkAction(Wire):
    """An action on up to 200 affiliates. There is no value for "all"."""

    affiliate_ids = Items(fields.UUID(), most=_MAX_FOR_API, least=1, required=True)
    action = one_of(ACTIONS, required=True)


class BulkIds(Wire):
    """Up to 500 affiliates whom a person selected."""

    ids = Items(fields.UUID(), most=_MAX_AT_DASHBOARD, least=1, required=True)


class BulkOutcome(Wire):
    """How many affiliates the action changed and skipped, and the ids of the changed ones."""

    action = one_of(ACTIONS)
    affected = fields.Integer()
    skipped = fields.Integer()
    affiliate_ids = fields.List(fields.UUID())


class BulkApproved(Wire):
    """How many affiliates were approved and skipped."""

    affected = fields.Integer()
    skipped = fields.Integer()
    approved = fields.Integer()


class BulkPaused(Wire):
    """How many affiliates were paused and skipped."""

    affected = fields.Integer()
    skipped = fields.Integer()
    paused = fields.Integer()
