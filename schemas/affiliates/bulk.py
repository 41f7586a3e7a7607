"""Bulk actions on affiliates, in the API.

Source: core spec, "Affiliates" (bulk-action, bulk approve and pause) and section 8 "Limits".
"""

from typing import Any

from marshmallow import ValidationError, fields, validates_schema

from schemas.affiliates.affiliate import Tag
from schemas.base import Wire, one_of, text
from schemas.collection_fields import Items

ACTIONS = ("approve", "pause", "delete", "reject", "tag", "untag", "group")
AT_DASHBOARD = ("approve", "reject", "pause", "tag", "untag", "group")
REASONS = ("not_found", "status", "unchanged", "other_program", "too_many_tags")

_MAX_FOR_API = 200
_MAX_AT_DASHBOARD = 500


class _Action(Wire):
    """The values of an action: `tag` and `untag` need a tag; `group` without a group removes affiliates from theirs."""

    tag = Tag()
    partner_group_id = fields.UUID(load_default=None, allow_none=True)
    reason = text(longest=1000, load_default=None, allow_none=True)

    @validates_schema
    def _check_tag(self, body: dict[str, Any], **_: object) -> None:
        if body.get("action") in ("tag", "untag") and not body.get("tag"):
            raise ValidationError("Enter a tag.", "tag")


class BulkAction(_Action):
    """An action on up to 200 affiliates. There is no value for "all"."""

    affiliate_ids = Items(fields.UUID(), most=_MAX_FOR_API, least=1, required=True)
    action = one_of(ACTIONS, required=True)


class BulkChange(_Action):
    """An action on up to 500 affiliates that a person selected."""

    affiliate_ids = Items(fields.UUID(), most=_MAX_AT_DASHBOARD, least=1, required=True)
    action = one_of(AT_DASHBOARD, required=True)


class BulkIds(Wire):
    """Up to 500 affiliates whom a person selected."""

    ids = Items(fields.UUID(), most=_MAX_AT_DASHBOARD, least=1, required=True)


class BulkOutcome(Wire):
    """How many affiliates the action changed and skipped, and the ids of the changed ones."""

    action = one_of(ACTIONS)
    affected = fields.Integer()
    skipped = fields.Integer()
    affiliate_ids = fields.List(fields.UUID())


class SkippedRecord(Wire):
    """An affiliate that was skipped, and why."""

    id = fields.UUID()
    reason = one_of(REASONS)


class BulkChangeOutcome(BulkOutcome):
    """The result of an action, with the reason for each skipped affiliate."""

    skipped_affiliates = fields.List(fields.Nested(SkippedRecord))


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
