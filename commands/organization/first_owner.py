"""The sign-in link of an organization's first Owner: emailed, or printed for the operator without a mail server."""

from datetime import datetime
from uuid import UUID

from pipelines.organization import sign_in_emails
from pipelines.organization.team import changes


def issue_link(*, organization_id: UUID, name: str, email: str, now: datetime) -> str | None:
    """Email the Owner a link to sign in; return it if there is no mail server, None if it was sent or is not needed."""
    if not changes.signs_in_by_email():
        return None
    return sign_in_emails.any_org_issue_first_link(organization_id=organization_id, name=name, email=email, now=now)


def describe_sign_in(email: str, sign_in_url: str | None) -> str:
    """Return how the Owner signs in, for the operator; `sign_in_url` as `issue_link` returned it."""
    if not changes.signs_in_by_email():
        return f"{email} signs in at your identity provider."
    if sign_in_url is None:
        return (
            f"A link to sign in was sent to {email}; it works once, within {sign_in_emails.FIRST_LIFETIME.days} days."
        )
    return f"There is no mail server (SMTP_URL). {email} signs in with this link, once: {sign_in_url}"
