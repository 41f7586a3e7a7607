"""The public application form and its one answer.

Source: tracking spec, "Public storefront" (apply) and "Apply-form recruiter binding".
"""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields, post_load

from domain.programs import application_form
from schemas.affiliates.affiliate import alias
from schemas.base import Email, Wire, line, text
from schemas.bounded import Entries

_NOBODY = "00000000-0000-0000-0000-000000000000"
# Ids have 36 characters, slugs at most 64; imported ones may be longer.
_LONGEST_REFERENCE = 255
_ANSWERS = {"website": "website", "audience": "audience", "why_interested": "whyInterested"}


class ApplicantWords(Wire):
    """What somebody says of themselves who applies."""

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

    def said(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Return of loaded fields `full_name`, `alias`, `answers` (the non-empty ones of ours) and `form_answers`."""
        answers = {key: (sent[name] or "").strip() for name, key in _ANSWERS.items()}
        return {
            "full_name": (sent["full_name"] or "").strip(),
            "alias": sent["alias"] or None,
            "answers": {key: answer for key, answer in answers.items() if answer},
            "form_answers": sent["answers"] or {},
        }


class ApplicationBody(ApplicantWords):
    """An application. Loads to `email`, `full_name`, `alias`, `recruiter`, `answers` (the non-empty ones of ours), and
    `form_answers`: what was sent for the campaign's own form, as it was sent.
    """

    email = Email(required=True)

    @post_load(pass_original=True)
    def _settle(self, sent: dict[str, Any], original: Mapping[str, Any], **_: object) -> dict[str, Any]:
        return {
            "email": sent["email"],
            **self.said(sent),
            # Not among the fields: they are not advertised, and a value that names no recruiter is dropped.
            "recruiter": _reference(original.get("recruitedBy")) or _reference(original.get("recruitedByAffiliateId")),
        }


def _reference(sent: object) -> str | None:
    reference = sent.strip().lower() if isinstance(sent, str) else ""
    return reference if 0 < len(reference) <= _LONGEST_REFERENCE and "\x00" not in reference else None


class ApplicationAnswer(Wire):
    """The same for everybody: nobody learns who applied before or who was approved."""

    affiliate_id = fields.Constant(_NOBODY)
    status = fields.Constant("Pending")
    affiliate_link_slug = fields.Constant(None)
    account_exists = fields.Boolean()
    email = fields.String()
    message = fields.Constant("Thank you. Your application was received; we will write to you about it.")
