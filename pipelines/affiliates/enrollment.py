"""Enrollment: a person becomes an affiliate of a program, with a slug and links.

Source: core spec, "Affiliate"; tracking spec, section 6, affiliate.created and affiliate.approved.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain import emails, slugs, statuses
from domain.programs import terms
from domain.refusals import Refused, not_found
from domain.webhooks import events
from models import advisory_locks, ids
from models.affiliates import affiliates, tracking_links
from models.affiliates.bulk_actions import ChangedAffiliate
from models.programs import programs
from pipelines.programs import home_rate
from pipelines.webhooks import emit

# Lower case without letters and digits that look alike (0 o, 1 i l): 31 to the power of 8.
_SLUG_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
_SLUG_LENGTH = 8
_SLUG_TRIES = 10
# The `source` in events of an application at a program's own page; one through the network has none.
_EVENT_SOURCE = "public_apply"
_APPLICATION_SOURCES = (statuses.AffiliateSource.Public, statuses.AffiliateSource.Network)


@dataclass(frozen=True, slots=True)
class Enrollment:
    """A new affiliate with their links, the default one first."""

    affiliate: affiliates.Affiliate
    links: list[tracking_links.LinkView]


def create(*, organization_id: UUID, body: Mapping[str, Any], is_test: bool, now: datetime) -> Enrollment:
    """Create an affiliate for the brand. `body` is `schemas.affiliates.affiliate.AffiliateBody` loaded.

    Raises Refused: 404 not_found for the program; 409 affiliate_already_exists, alias_already_taken; for the rate
    what `terms.check_rate` raises.
    """
    columns = dict(body)
    alias = columns.pop("alias")
    if body["custom_commission_type"] is not None:
        affiliates.stage_program_share_lock(organization_id=organization_id, program_id=body["program_id"])
    program = programs.find(organization_id=organization_id, program_id=body["program_id"])
    if program is None:
        raise not_found("program", body["program_id"])
    columns["custom_commission_currency"] = check_rate(program, body)
    advisory_locks.stage_person_lock(organization_id=organization_id, email=body["email"])
    if alias is not None:
        reserve_alias(organization_id=organization_id, alias=alias, email=body["email"])
    columns |= {
        "organization_id": organization_id,
        "source": statuses.AffiliateSource.Direct.value,
        "is_test": is_test,
    }
    return join(columns, alias=alias, now=now)


def reserve_alias(*, organization_id: UUID, alias: str, email: str) -> None:
    """Reserve an alias for this person until the transaction ends. Raises Refused 409 alias_already_taken."""
    advisory_locks.take_slug_lock(organization_id=organization_id, slug=alias)
    if tracking_links.is_slug_of_another(organization_id=organization_id, slug=alias, email=email):
        raise alias_refusal()


def reserve_random_slug(*, organization_id: UUID, email: str) -> str:
    """Return a random slug that no one else has, reserved for this person until the transaction ends."""
    for _ in range(_SLUG_TRIES):
        slug = random_slug()
        advisory_locks.take_slug_lock(organization_id=organization_id, slug=slug)
        if not tracking_links.is_slug_of_another(organization_id=organization_id, slug=slug, email=email):
            return slug
    raise RuntimeError(f"{_SLUG_TRIES} random slugs in a row were taken")


def random_slug() -> str:
    """Return a random slug that is not reserved; it is probably free."""
    slug = "".join(secrets.choice(_SLUG_ALPHABET) for _ in range(_SLUG_LENGTH))
    return random_slug() if slugs.is_reserved(slug) else slug


def alias_refusal() -> Refused:
    """Return the refusal for a slug that is taken."""
    return Refused(409, "alias_already_taken", "This alias is taken.", field="customAlias")


def join(columns: Mapping[str, Any], *, alias: str | None, now: datetime) -> Enrollment:
    """Insert an affiliate with their links and send the events.

    `columns` holds organization, program, email, status, source and any other known columns.
    The caller holds this person's lock and has reserved the alias.
    Raises Refused 409: affiliate_already_exists, alias_already_taken.
    """
    is_approved = columns["status"] == statuses.AffiliateStatus.Approved
    values = {
        **columns,
        "id": ids.new_id(),
        "email_normalized": emails.normalize(columns["email"]),
        "applied_at": now,
        "approved_at": now if is_approved else None,
        "created_at": now,
    }
    affiliate = affiliates.insert(values)
    if affiliate is None:
        raise Refused(409, "affiliate_already_exists", "The program has an affiliate with this email.", field="email")
    links = _insert_links(values, alias)
    emit_events(affiliate, slug=links[0].slug, now=now)
    return Enrollment(affiliate, links)


def check_rate(program: programs.Program, body: Mapping[str, Any]) -> str | None:
    """Check an affiliate's custom rate; return the currency of a Fixed one, None for any other.

    The program's terms must be locked until the transaction ends. Raises Refused: what `terms.check_rate` raises.
    """
    if body["custom_commission_type"] is None:
        return None
    home = home_rate.find(program.organization_id)
    terms.check_rate(
        model=program.default_commission_model,
        type=body["custom_commission_type"],
        value=body["custom_commission_value"],
        home=home,
        prefix="custom",
    )
    return terms.rate_currency(body["custom_commission_type"], home.currency)


def _insert_links(affiliate: Mapping[str, Any], alias: str | None) -> list[tracking_links.LinkView]:
    organization_id, email = affiliate["organization_id"], affiliate["email"]
    current = tracking_links.find_default_slug(organization_id=organization_id, email=email)
    slug = current or alias or reserve_random_slug(organization_id=organization_id, email=email)
    values = link_values(affiliate, slug=slug, alias=alias)
    for link in values:
        if not tracking_links.insert(link):
            raise alias_refusal()
    return tracking_links.list_of_affiliates(organization_id=organization_id, affiliate_ids=[affiliate["id"]])


def link_values(affiliate: Mapping[str, Any], *, slug: str, alias: str | None) -> list[dict[str, Any]]:
    """Return the columns of a new affiliate's links, the default one first.

    A person has one slug in all campaigns of an organization; an alias in addition to it is a link of its own.
    """
    return [
        {
            "id": ids.new_id(),
            "organization_id": affiliate["organization_id"],
            "program_id": affiliate["program_id"],
            "affiliate_id": affiliate["id"],
            "slug": text,
            "custom_alias": alias if text == alias else None,
            "is_default": text == slug,
            "created_at": affiliate["created_at"],
        }
        for text in ([slug] if alias in (None, slug) else [slug, alias])
    ]


def emit_events(affiliate: affiliates.Affiliate, *, slug: str, now: datetime) -> None:
    """Stage the events of a new affiliate; an applicant who is Approved was approved automatically.

    An application through the network has its event when it becomes a match, at its approval (`emit_matches`).
    """
    is_approved = affiliate.status == statuses.AffiliateStatus.Approved
    if affiliate.source == statuses.AffiliateSource.Network and not is_approved:
        return
    _emit_created(affiliate, organization_id=affiliate.organization_id, slug=slug, now=now)
    if is_approved:
        data = events.affiliate_approved(
            **_event_fields(affiliate), approved_at=now, auto_approved=affiliate.source in _APPLICATION_SOURCES
        )
        emit.event(organization_id=affiliate.organization_id, type="affiliate.approved", data=data, at=now)


def approved_data(affiliate: affiliates.Affiliate | ChangedAffiliate) -> dict[str, object]:
    """Return the data of the affiliate.approved event of an affiliate who was approved by the brand."""
    assert affiliate.approved_at is not None  # the change has set it
    return events.affiliate_approved(**_event_fields(affiliate), approved_at=affiliate.approved_at)


def is_network_match(*, source: str, approved_at_before: datetime | None) -> bool:
    """Return whether an approval is a match of the network: the first approval of an applicant from there."""
    return source == statuses.AffiliateSource.Network and approved_at_before is None


def emit_matches(
    matches: Sequence[affiliates.Affiliate | ChangedAffiliate], *, organization_id: UUID, now: datetime
) -> None:
    """Stage affiliate.created for affiliates from the network who are approved now; it comes before the approval."""
    links = tracking_links.list_of_affiliates(
        organization_id=organization_id, affiliate_ids=[affiliate.id for affiliate in matches]
    )
    slugs = {link.affiliate_id: link.slug for link in links if link.is_default}
    for affiliate in matches:
        _emit_created(affiliate, organization_id=organization_id, slug=slugs[str(affiliate.id)], now=now)


def _emit_created(
    affiliate: affiliates.Affiliate | ChangedAffiliate, *, organization_id: UUID, slug: str, now: datetime
) -> None:
    is_public = affiliate.source == statuses.AffiliateSource.Public
    data = events.affiliate_created(
        **_event_fields(affiliate), status=affiliate.status, slug=slug, source=_EVENT_SOURCE if is_public else None
    )
    emit.event(organization_id=organization_id, type="affiliate.created", data=data, at=now)


def _event_fields(affiliate: affiliates.Affiliate | ChangedAffiliate) -> dict[str, Any]:
    return {
        "affiliate_id": affiliate.id,
        "program_id": affiliate.program_id,
        "email": affiliate.email,
        "full_name": affiliate.full_name,
        "application_answers": affiliate.application_data,
    }
