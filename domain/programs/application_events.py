"""The JSON form of the event of an application's second step.

Source: tracking spec, section 6 "Events".
"""

from collections.abc import Mapping
from uuid import UUID

from domain.webhooks.events import without_nulls


def serialize_application_completed(
    *,
    affiliate_id: UUID,
    program_id: UUID,
    email: str,
    full_name: str | None,
    status: str,
    application_answers: Mapping[str, object],
) -> dict[str, object]:
    """Return the data of an affiliate.application_completed event.

    `application_answers` are all stored answers, of both steps, by the key of the field.
    Source: tracking spec, section 6, affiliate.application_completed.
    """
    return without_nulls(
        {
            "affiliateId": str(affiliate_id),
            "programId": str(program_id),
            "email": email,
            "fullName": full_name,
            "status": str(status),
            "applicationAnswers": application_answers,
        }
    )
