"""The public application form and its one answer.

Source: tracking spec, "Public storefront" (apply) and "Apply-form recruiter binding".
"""

from typing import Any

from marshmallow import fields, post_load

from schemas.affiliate import alias
from schemas.base import Email, Wire, text

_NOBODY = "00000000-0000-0000-0000-000000000000"
_ANSWERS = {"website": "website", "audience": "audience", "why_interested": "whyInterested"}


class ApplicationBody(Wire):
    """An application. Loads to `email`, `full_name`, `alias`, `answers` (the non-empty ones) and `recruiter`."""

    email = Email(required=True)
    full_name = text(longest=200, load_default=None, allow_none=True)
    website = text(longest=2048, load_default=None, allow_none=True)
    audience = text(longest=5000, load_default=None, allow_none=True)
    why_interested = text(longest=5000, load_default=None, allow_none=True)
    alias = alias()
    # Whatever names no recruiter is dropped without a word, so nothing is too long to be sent.
    recruited_by = text(longest=65_536, load_default=None, allow_none=True)
    recruited_by_affiliate_id = text(longest=65_536, load_default=None, allow_none=True)

    @post_load
    def _settle(self, sent: dict[str, Any], **_: object) -> dict[str, Any]:
        answers = {key: (sent[name] or "").strip() for name, key in _ANSWERS.items()}
        recruiter = (sent["recruited_by"] or "").strip() or (sent["recruited_by_affiliate_id"] or "").strip()
        return {
            "email": sent["email"],
            "full_name": (sent["full_name"] or "").strip(),
            "alias": sent["alias"] or None,
            "answers": {key: answer for key, answer in answers.items() if answer},
            "recruiter": recruiter or None,
        }


class ApplicationAnswer(Wire):
    """The same for everybody: nobody learns who applied before or who was approved."""

    affiliate_id = fields.Constant(_NOBODY)
    status = fields.Constant("Pending")
    affiliate_link_slug = fields.Constant(None)
    account_exists = fields.Boolean()
    email = fields.String()
    message = fields.Constant("Thank you. Your application was received; we will write to you about it.")
