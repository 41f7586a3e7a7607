"""The public application form and its one answer.

Source: tracking spec, "Public storefront" (apply) and "Apply-form recruiter binding".
"""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields, post_load

from domain.programs import application_form
from schemas.affiliates.affiliate import alias
from schemas.base import Email, Wire, line, text
from schemas.collection_fields import Entries

_NO_AFFILIATE = "00000000-0000-0000-0000-000000000000"
# Ids have 36 characters, slugs at most 64; imported ones may be longer.
_MAX_REFERENCE_CHARS = 255
_ANSWERS = {"website": "website", "audience": "audience", "why_interested": "whyInterested"}


class ApplicantFields(Wire):
    """The fields of an application by the applicant."""

    full_name = line(longest=200, load_default=None, allow_none=True)
    website = line(longest=2048, load_default=None, allow_none=True)
    audience = text(longest=5000, load_default=None, allow_none=True)
    why_interested = text(longest=5000, load_default=None, allow_none=True)
    answers = Entries(
        most=application_form.MAX_ANSWERS,
        keys=fields.String(),
        values=fields.Raw(allow_none=True),
        load_default=None,
        allow_none=True,
    )
    alias = alias()

    def to_application(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return `full_name`, `alias`, `answers` (to our own questions, not empty) and `form_answers` of a body."""
        answers = {key: (body[name] or "").strip() for name, key in _ANSWERS.items()}
        return {
            "full_name": (body["full_name"] or "").strip(),
            "alias": body["alias"] or None,
            "answers": {key: answer for key, answer in answers.items() if answer},
            "form_answers": body["answers"] or {},
        }


class ApplicationBody(ApplicantFields):
    """An application. Loads to `email`, `full_name`, `alias`, `recruiter`, `answers` (to our own questions, not empty)
    and `form_answers`, the unchanged answers to the campaign's own form.
    """

    email = Email(required=True)

    @post_load(pass_original=True)
    def _settle(self, body: dict[str, Any], original: Mapping[str, Any], **_: object) -> dict[str, Any]:
        return {
            "email": body["email"],
            **self.to_application(body),
            # Not among the fields, since they are not documented, and an invalid recruiter is dropped.
            "recruiter": _reference(original.get("recruitedBy")) or _reference(original.get("recruitedByAffiliateId")),
        }


def _reference(value: object) -> str | None:
    reference = value.strip().lower() if isinstance(value, str) else ""
    return reference if 0 < len(reference) <= _MAX_REFERENCE_CHARS and "\x00" not in reference else None


class ApplicationAnswer(Wire):
    """The same for every applicant: it does not disclose who applied before or who was approved."""

    affiliate_id = fields.Constant(_NO_AFFILIATE)
    status = fields.Constant("Pending")
    affiliate_link_slug = fields.Constant(None)
    account_exists = fields.Boolean()
    email = fields.String()
    message = fields.Constant("Thank you. Your application was received; we will write to you about it.")
