"""Affiliates: how somebody joins a program, who brought them, and which slug they get.

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
from domain.refused import Refused, not_found
from domain.webhooks import events
from models import advisory_locks, ids
from models.affiliates import affiliates, tracking_links
from models.affiliates.sets import ChangedAffiliate
from models.programs import programs
from pipelines.programs import home_rate
from pipelines.webhooks import emit

# Lower case without the letters and digits that are taken for one another (0 o, 1 i l): 31 to the power of 8.
_SLUG_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
_SLUG_LENGTH = 8
_SLUG_TRIES = 10
# What an event calls an application at a program's own page; one through the network has no word of its own.
_EVENT_SOURCE = "public_apply"
_APPLIED = (statuses.AffiliateSource.Public, statuses.AffiliateSource.Network)


@dataclass(frozen=True, slots=True)
class Joined:
    """A new affiliate with their links, the default one first."""

    affiliate: affiliates.Affiliate
    links: list[tracking_links.ShownLink]


def create(*, organization_id: UUID, wanted: Mapping[str, Any], is_test: bool, now: datetime) -> Joined:
    """Create an affiliate for the brand. `wanted` is `schemas.affiliates.affiliate.AffiliateBody` loaded.

    Raises Refused: 404 not_found for the program; 409 affiliate_already_exists, alias_already_taken; for the rate
    what `terms.check_rate` raises.
    """
    columns = dict(wanted)
    alias = columns.pop("alias")
    if wanted["custom_commission_type"] is not None:
        affiliates.stage_steady_program(organization_id=organization_id, program_id=wanted["program_id"])
    program = programs.find(organization_id=organization_id, program_id=wanted["program_id"])
    if program is None:
        raise not_found("program", wanted["program_id"])
    columns["custom_commission_currency"] = checked_rate(program, wanted)
    advisory_locks.stage_person_lock(organization_id=organization_id, email=wanted["email"])
    if alias is not None:
        check_alias(organization_id=organization_id, alias=alias, email=wanted["email"])
    columns |= {
        "organization_id": organization_id,
        "source": statuses.AffiliateSource.Direct.value,
        "is_test": is_test,
    }
    return join(columns, alias=alias, now=now)


def check_alias(*, organization_id: UUID, alias: str, email: str) -> None:
    """Hold an alias for this person until the transaction ends, or refuse with 409 alias_already_taken."""
    advisory_locks.take_slug_lock(organization_id=organization_id, slug=alias)
    if tracking_links.is_slug_of_somebody_else(organization_id=organization_id, slug=alias, email=email):
        raise alias_taken()


def free_slug(*, organization_id: UUID, email: str) -> str:
    """Return a random slug that nobody else has, held for this person until the transaction ends."""
    for _ in range(_SLUG_TRIES):
        slug = random_slug()
        advisory_locks.take_slug_lock(organization_id=organization_id, slug=slug)
        if not tracking_links.is_slug_of_somebody_else(organization_id=organization_id, slug=slug, email=email):
            return slug
    raise RuntimeError(f"{_SLUG_TRIES} random slugs in a row were taken")


def random_slug() -> str:
    """Return a slug that is probably free, and not of digits alone."""
    slug = "".join(secrets.choice(_SLUG_ALPHABET) for _ in range(_SLUG_LENGTH))
    return random_slug() if slugs.is_reserved(slug) else slug


def alias_taken() -> Refused:
    """Return the refusal for a slug that is taken."""
    return Refused(409, "alias_already_taken", "This alias is taken.", field="customAlias")


def join(wanted: Mapping[str, Any], *, alias: str | None, now: datetime) -> Joined:
    """Insert an affiliate with their links and tell the brand.

    `wanted` holds the columns that are known: organization, program, email, status, source and what else there is.
    The caller holds this person's lock and has checked the alias.
    Raises Refused 409: affiliate_already_exists, alias_already_taken.
    """
    is_approved = wanted["status"] == statuses.AffiliateStatus.Approved
    values = {
        **wanted,
        "id": ids.new_id(),
        "email_normalized": emails.normalize(wanted["email"]),
        "applied_at": now,
        "approved_at": now if is_approved else None,
        "created_at": now,
    }
    affiliate = affiliates.insert(values)
    if affiliate is None:
        raise Refused(409, "affiliate_already_exists", "The program has an affiliate with this email.", field="email")
    links = _insert_links(values, alias)
    tell(affiliate, slug=links[0].slug, now=now)
    return Joined(affiliate, links)


def checked_rate(program: programs.Program, wanted: Mapping[str, Any]) -> str | None:
    """Check the rate of their own that somebody is to have; return the currency of a Fixed one, None for any other.

    The program's terms stand still until the transaction ends. Raises Refused: what `terms.check_rate` raises.
    """
    if wanted["custom_commission_type"] is None:
        return None
    standard = home_rate.find(program.organization_id)
    terms.check_rate(
        model=program.default_commission_model,
        type=wanted["custom_commission_type"],
        value=wanted["custom_commission_value"],
        home=standard,
        prefix="custom",
    )
    return terms.fixed_in(wanted["custom_commission_type"], standard.currency)


def _insert_links(affiliate: Mapping[str, Any], alias: str | None) -> list[tracking_links.ShownLink]:
    organization_id, email = affiliate["organization_id"], affiliate["email"]
    known = tracking_links.slug_of(organization_id=organization_id, email=email)
    slug = known or alias or free_slug(organization_id=organization_id, email=email)
    values = link_values(affiliate, slug=slug, alias=alias)
    for link in values:
        if not tracking_links.insert(link):
            raise alias_taken()
    return tracking_links.of_affiliates(organization_id=organization_id, affiliate_ids=[affiliate["id"]])


def link_values(affiliate: Mapping[str, Any], *, slug: str, alias: str | None) -> list[dict[str, Any]]:
    """Return the columns of a new affiliate's links, the default one first.

    A person is known by one slug in all campaigns of an organization; an alias on top of it is a link of its own.
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


def tell(affiliate: affiliates.Affiliate, *, slug: str, now: datetime) -> None:
    """Stage what the brand is told of a new affiliate; who applied and is Approved was so on arrival.

    Of an application that came through the network it is told when that is a match: once it is approved (`tell_match`).
    """
    is_approved = affiliate.status == statuses.AffiliateStatus.Approved
    if affiliate.source == statuses.AffiliateSource.Network and not is_approved:
        return
    _tell_created(affiliate, organization_id=affiliate.organization_id, slug=slug, now=now)
    if is_approved:
        approved = events.affiliate_approved(
            **_shared(affiliate), approved_at=now, auto_approved=affiliate.source in _APPLIED
        )
        emit.event(organization_id=affiliate.organization_id, type="affiliate.approved", data=approved, at=now)


def is_match(*, source: str, approved_before: datetime | None) -> bool:
    """Say whether the approval of somebody with this source, approved before or never, is a match of the network."""
    return source == statuses.AffiliateSource.Network and approved_before is None


def tell_match(
    matched: Sequence[affiliates.Affiliate | ChangedAffiliate], *, organization_id: UUID, now: datetime
) -> None:
    """Stage what the brand is told first of those whose application came through the network and is approved now."""
    found = tracking_links.of_affiliates(organization_id=organization_id, affiliate_ids=[one.id for one in matched])
    slugs = {link.affiliate_id: link.slug for link in found if link.is_default}
    for one in matched:
        _tell_created(one, organization_id=organization_id, slug=slugs[str(one.id)], now=now)


def _tell_created(
    affiliate: affiliates.Affiliate | ChangedAffiliate, *, organization_id: UUID, slug: str, now: datetime
) -> None:
    is_public = affiliate.source == statuses.AffiliateSource.Public
    created = events.affiliate_created(
        **_shared(affiliate), status=affiliate.status, slug=slug, source=_EVENT_SOURCE if is_public else None
    )
    emit.event(organization_id=organization_id, type="affiliate.created", data=created, at=now)


def _shared(affiliate: affiliates.Affiliate | ChangedAffiliate) -> dict[str, Any]:
    return {
        "affiliate_id": affiliate.id,
        "program_id": affiliate.program_id,
        "email": affiliate.email,
        "full_name": affiliate.full_name,
        "application_answers": affiliate.application_data,
    }
