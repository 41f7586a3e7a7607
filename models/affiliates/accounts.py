"""Affiliates' accounts: one per person, above all tenants."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import db


@dataclass(frozen=True, slots=True)
class Account:
    """An account as it is kept; `slug` is the referral slug that is the same in every campaign."""

    id: UUID
    email: str
    slug: str | None


def find(subject: str) -> Account | None:
    """Return the account of an identity provider's subject."""
    row = db.row("select id, email, slug from affiliate_account where subject = %s", (subject,))
    return Account(*row) if row else None


def find_by_email(email: str) -> list[UUID]:
    """Return the accounts with this verified email; more than one when an address changed hands."""
    return [row[0] for row in db.run("select id from affiliate_account where email = %s", (email,))]


def insert_once(*, account_id: UUID, subject: str, email: str, slug: str | None, at: datetime) -> Account:
    """Insert an account, without its slug when somebody else has that by now; twins get one account."""
    for wanted in (slug, None) if slug else (None,):
        db.stage(
            "insert into affiliate_account (id, subject, email, slug, created_at) values (%s, %s, %s, %s, %s)"
            " on conflict do nothing",
            (account_id, subject, email, wanted, at),
        )
        found = find(subject)
        if found is not None:
            return found
    raise RuntimeError("an account that was just inserted is not there")


def stage_email(*, account_id: UUID, email: str) -> None:
    """Stage an account's new verified email."""
    db.stage("update affiliate_account set email = %s where id = %s", (email, account_id))


def any_org_stage_adoption(*, account_id: UUID, email: str) -> None:
    """Stage that every tenant's affiliates with this email belong to the account."""
    db.stage(
        "update affiliate set account_id = %s where email = %s and deleted_at is null and account_id is null",
        (account_id, email),
    )


def any_org_is_slug_taken(slug: str) -> bool:
    """Say whether a slug is an account's or a living link's anywhere in the service."""
    return bool(
        db.run(
            "select from affiliate_account where slug = %(slug)s"
            " union all select from tracking_link where slug = %(slug)s and deleted_at is null limit 1",
            {"slug": slug},
        )
    )


def any_org_promised_slug(email: str) -> str | None:
    """Return the slug that an accepted invite kept for this person, the newest when there are several."""
    row = db.row(
        "select kept_slug from affiliate_invite where email = %s and accepted_at is not null and kept_slug is not null"
        " order by accepted_at desc limit 1",
        (email,),
    )
    return row[0] if row else None
