"""Affiliate accounts: one per person, shared by all tenants."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class AffiliateAccount:
    """An account row; `slug` is the referral slug that the person has in every campaign."""

    id: UUID
    email: str
    slug: str | None


_ACCOUNTS = Rows(AffiliateAccount)
_FIND = f"select {columns(AffiliateAccount)} from affiliate_account where subject = %s"


def find(subject: str) -> AffiliateAccount | None:
    """Return the account of an identity provider's subject."""
    return _ACCOUNTS.first(_FIND, (subject,))


def find_by_email(email: str) -> list[UUID]:
    """Return the accounts with this verified email: several when an address changed its owner."""
    return [row[0] for row in db.run("select id from affiliate_account where email = %s", (email,))]


_INSERT = """
insert into affiliate_account (id, subject, email, slug, created_at) values (%s, %s, %s, %s, %s) on conflict do nothing
"""


def insert_once(*, account_id: UUID, subject: str, email: str, slug: str | None, at: datetime) -> AffiliateAccount:
    """Insert an account and return it, without its slug if another account has it; concurrent calls get one account."""
    for slug_to_insert in (slug, None) if slug else (None,):
        db.stage(_INSERT, (account_id, subject, email, slug_to_insert, at))
        account = find(subject)
        if account is not None:
            return account
    raise RuntimeError("the account that was just inserted is missing")


def stage_email(*, account_id: UUID, email: str) -> None:
    """Stage an account's new verified email."""
    db.stage("update affiliate_account set email = %s where id = %s", (email, account_id))


_ANY_ORG_ADOPTION = """
update affiliate set account_id = %s where email = %s and deleted_at is null and account_id is null
"""


def any_org_stage_adoption(*, account_id: UUID, email: str) -> None:
    """Stage that every tenant's affiliates with this email belong to the account."""
    db.stage(_ANY_ORG_ADOPTION, (account_id, email))


_ANY_ORG_NEWEST_BRAND = """
select organization_id from affiliate where email = %s and deleted_at is null order by created_at desc, id desc limit 1
"""


def any_org_find_newest_brand(email: str) -> UUID | None:
    """Return the organization that this email joined last as an affiliate; None if it belongs to no affiliate."""
    row = db.row(_ANY_ORG_NEWEST_BRAND, (email,))
    return row[0] if row else None


_ANY_ORG_PROMISED_SLUG = """
select kept_slug from affiliate_invite where email = %s and accepted_at is not null and kept_slug is not null
order by accepted_at desc limit 1
"""


def any_org_find_promised_slug(email: str) -> str | None:
    """Return the slug that this person's newest accepted invite reserved for them."""
    row = db.row(_ANY_ORG_PROMISED_SLUG, (email,))
    return row[0] if row else None
