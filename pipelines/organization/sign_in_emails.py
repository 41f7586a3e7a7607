"""Sign-in links by email, for affiliates. The answer never reveals whether an address is known.

The request only stages a job; the job finds out whether the address belongs to an affiliate. The request contains
personal data, so the job carries it sealed.
"""

import base64
from datetime import datetime, timedelta
from urllib.parse import urlencode
from uuid import UUID

import orjson

import settings
from adapters import sealing
from adapters.identity import tokens
from domain import jobs
from models.affiliates import accounts
from models.organization import organizations, web_sessions
from models.organization.web_sessions import SignInLink
from pipelines import mail, work
from pipelines.organization import sessions

#: How long an emailed link is valid.
LIFETIME = timedelta(minutes=15)

_COUNTED_FOR = timedelta(hours=1)
_BELONGS_TO = "sign_in.letter"


def any_org_stage_request(*, email: str, browser_secret: str, back: str | None) -> None:
    """Stage the job for a requested link; `browser_secret` is a cookie of the browser, `back` one of our pages.

    Does the same for every address. Budget: 1 round trip.
    """
    fair_key = f"sign-in {sessions.secret_hash(email).hex()}"
    request = orjson.dumps(
        {"email": email, "asked_by": sessions.secret_hash(browser_secret).hex(), "back": back}
    ).decode()
    sealed = base64.b64encode(sealing.seal(request, belongs_to=_BELONGS_TO)).decode()
    work.enqueue(jobs.SIGN_IN_LETTER, organization_id=None, fair_key=fair_key, sealed=sealed)


def any_org_send(*, sealed: str, now: datetime) -> None:
    """Stage the email with a link if the address is an affiliate's and got fewer than three within the hour."""
    try:
        # Not through the cache of sealed secrets: each is opened once.
        request = orjson.loads(sealing.unseal.__wrapped__(base64.b64decode(sealed), belongs_to=_BELONGS_TO))
        tokens.check_local("affiliate")
    except sealing.CannotOpen as error:
        raise work.NotReadable(str(error)) from error
    except tokens.NotLocal:
        return
    email, organization_id = request["email"], accounts.any_org_find_newest_brand(request["email"])
    if organization_id is None:
        return
    counted_as = sessions.secret_hash(f"letter to {email}")
    if not web_sessions.any_org_count_email(counted_as, now=now, until=now + _COUNTED_FOR):
        return
    link = SignInLink("account", None, None, email, bytes.fromhex(request["asked_by"]))
    token, _ = sessions.any_org_issue_link(link, now=now, ttl_s=int(LIFETIME.total_seconds()))
    _stage_email(organization_id, email, _link_url(token, request["back"]), now)


def _link_url(token: str, back: str | None) -> str:
    query = f"?{urlencode({'next': back})}" if back else ""
    return f"{settings.current().web.url}/sign-in/link/{token}{query}"


def _stage_email(organization_id: UUID, email: str, url: str, now: datetime) -> None:
    brand = organizations.find(organization_id)
    assert brand is not None  # it has this affiliate
    name = " ".join(brand.name.split())
    text = (
        f"Open this link to sign in to your affiliate account at {name}:\n\n{url}\n\nIt works once, for"
        f" {int(LIFETIME.total_seconds() // 60)} minutes. If you did not request it, ignore this email:"
        " nothing happens without you.\n"
    )
    subject = f"Sign in to your affiliate account at {name}"
    mail.send(organization_id=organization_id, to=email, subject=subject, text=text, kind="sign_in.link", at=now)
