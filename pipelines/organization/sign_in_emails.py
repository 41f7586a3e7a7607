"""Sign-in links by email, for members and affiliates. The answer never reveals whether an address is known.

The request only stages a job; the job finds out what the address may open. The request contains personal data, so the
job carries it sealed.
"""

import base64
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import orjson

import settings
from adapters.secret_key import sealing
from domain import jobs
from domain.organization.access import Role
from models.affiliates import accounts
from models.organization import organizations, web_sessions
from models.organization.web_sessions import SignInLink
from pipelines import mail, work
from pipelines.organization import destinations, sessions
from pipelines.organization.destinations import SignInDestination

#: How long an emailed link is valid.
LIFETIME = timedelta(minutes=15)
#: How long the link is valid that the first Owner of a new organization gets.
FIRST_LIFETIME = timedelta(days=7)

# An address gets three emails an hour from the requests of one network, and three in ten minutes from all networks: a
# stranger who requests links keeps no one from signing in. A signed-in person gets three in ten minutes, which is how
# long a login by email is fresh.
_COUNTED_FOR = timedelta(hours=1)
_COUNTED_TOGETHER_FOR = timedelta(minutes=10)
_BELONGS_TO = "sign_in.letter"
_KIND = "sign_in.link"


def any_org_stage_request(
    *, email: str, browser_secret: str, back: str | None, network: str = "", is_signed_in: bool = False
) -> None:
    """Stage the job for a requested link; `browser_secret` is a cookie of the browser, `back` one of our pages.

    `network` is that of the browser, which may be signed in as this person already. Does the same for every address.
    Budget: 1 round trip.
    """
    fair_key = f"sign-in {sessions.secret_hash(email).hex()}"
    request = orjson.dumps(
        {
            "email": email,
            "asked_by": sessions.secret_hash(browser_secret).hex(),
            "back": back,
            "network": network,
            "is_signed_in": is_signed_in,
        }
    ).decode()
    sealed = base64.b64encode(sealing.seal(request, belongs_to=_BELONGS_TO)).decode()
    work.enqueue(jobs.SIGN_IN_LETTER, organization_id=None, fair_key=fair_key, sealed=sealed)


def any_org_send(*, sealed: str, now: datetime) -> None:
    """Stage the email with a link if the address may sign in here, and no limit of emails is reached."""
    try:
        # Not through the cache of sealed secrets: each is opened once.
        request = orjson.loads(sealing.unseal.__wrapped__(base64.b64decode(sealed), belongs_to=_BELONGS_TO))
    except sealing.CannotUnseal as error:
        raise work.NotReadable(str(error)) from error
    email = request["email"]
    listed = destinations.any_org_list(email, subject=sessions.local_subject(email), now=now)
    if not listed:
        return
    if not _any_org_count(request, now=now):
        return
    link = SignInLink("account", None, None, email, bytes.fromhex(request["asked_by"]), via="email")
    token, _ = sessions.any_org_issue_link(link, now=now, ttl_s=int(LIFETIME.total_seconds()))
    _stage_email(listed, email, _link_url(token, request["back"]), now)


def _any_org_count(request: Mapping[str, Any], *, now: datetime) -> bool:
    """Count an email within its limits; False when one of them is reached.

    A request that the former release staged names no network.
    """
    email, network = request["email"], request.get("network", "")
    if request.get("is_signed_in"):
        limits = [(f"letter to {email} from their own session", _COUNTED_TOGETHER_FOR)]
    else:
        limits = [(f"letter to {email} from {network}", _COUNTED_FOR), (f"letter to {email}", _COUNTED_TOGETHER_FOR)]
    return all(
        web_sessions.any_org_count_email(sessions.secret_hash(name), now=now, until=now + duration)
        for name, duration in limits
    )


def any_org_issue_first_link(*, organization_id: UUID, name: str, email: str, now: datetime) -> str | None:
    """Email the first Owner of a new organization a link to sign in; without a mail server return its URL instead.

    It is valid for FIRST_LIFETIME.
    """
    has_server = settings.current().mail.smtp is not None
    # No browser requested the mailed link, so any browser shows a button first.
    asked_by = sessions.secret_hash(secrets.token_urlsafe(32)) if has_server else None
    via = "email" if has_server else "shell"
    link = SignInLink("member", organization_id, Role.Owner, email, asked_by, via)
    token, _ = sessions.any_org_issue_link(link, now=now, ttl_s=int(FIRST_LIFETIME.total_seconds()))
    if not has_server:
        return _link_url(token, None)
    brand, web = " ".join(name.split()), settings.current().web.url
    text = (
        f"{brand} is set up on Finderfee, and you are its Owner. Sign in:\n\n{_link_url(token, None)}\n\n"
        f"The link works once, within {FIRST_LIFETIME.days} days. Later, sign in with this email address at"
        f" {web}/sign-in\n"
    )
    subject = f"Sign in to {brand}"
    mail.send(organization_id=organization_id, to=email, subject=subject, text=text, kind=_KIND, at=now)
    return None


def _link_url(token: str, back: str | None) -> str:
    query = f"?{urlencode({'next': back})}" if back else ""
    return f"{settings.current().web.url}/sign-in/link/{token}{query}"


def _stage_email(listed: Sequence[SignInDestination], email: str, url: str, now: datetime) -> None:
    """Stage the email in the name of the organization that the person visited last, or joined last as an affiliate."""
    first = listed[0]
    organization_id = first.organization_id or accounts.any_org_find_newest_brand(email)
    brand = organizations.find(organization_id) if organization_id is not None else None
    assert brand is not None  # each destination has one
    name = " ".join(brand.name.split())
    where = f"your affiliate account at {name}" if first.kind == "account" else name
    if len(listed) > 1:
        where = "Finderfee"
    text = (
        f"Open this link to sign in to {where}:\n\n{url}\n\nIt works once, for"
        f" {int(LIFETIME.total_seconds() // 60)} minutes. If you did not request it, ignore this email:"
        " nothing happens without you.\n"
    )
    subject = f"Sign in to {where}"
    mail.send(organization_id=brand.id, to=email, subject=subject, text=text, kind=_KIND, at=now)
