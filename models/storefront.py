"""Public look-ups of campaigns, before the tenant is known, and the facts that an application is decided by."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from models.conditions import OPEN_PROGRAM, PROGRAM_HAS_TIERS
from models.db import db
from models.prepared_statements import Lookup
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class Landing:
    """The public data of an open campaign and its organization, without the organization's id."""

    id: UUID
    organization_name: str
    name: str
    slug: str
    description: str | None
    terms_url: str | None
    organization_description: str | None
    default_commission_type: str
    default_commission_value: Decimal
    default_commission_model: str
    cookie_window_days: int
    recurring_months: int | None
    attribution_model: str
    auto_approve: bool
    is_publicly_discoverable: bool
    application_form: Mapping[str, Any] | None
    logo_file_id: UUID | None
    favicon_file_id: UUID | None
    landing_page_config: Mapping[str, Any] | None
    # On its page only.
    handle: str
    brand_color: str | None
    verified_domain: str | None
    fee_currency: str | None
    sale_commission_type: str | None
    sale_commission_value: Decimal | None
    lead_bounty_cents: int | None
    lead_bounty_currency: str | None
    click_reward_cents: int | None
    click_reward_currency: str | None
    recurring_delay_invoices: int
    has_tiers: bool


_LANDINGS = Rows(Landing)
_COLUMNS = columns(
    Landing,
    "p",
    organization_name="o.name",
    organization_description="o.description",
    logo_file_id="o.logo_file_id",
    favicon_file_id="o.favicon_file_id",
    handle="o.subdomain",
    brand_color="o.primary_brand_color",
    verified_domain="case when p.custom_domain_verified then p.custom_domain end",
    has_tiers=PROGRAM_HAS_TIERS,
)
_SHOWN = f"select {_COLUMNS} from organization o"
_OPEN = f"where o.subdomain = %(handle)s and {OPEN_PROGRAM}"
_MAIN = Lookup(f"""
{_SHOWN} join program p on p.organization_id = o.id {_OPEN}
order by p.is_primary desc, p.created_at, p.id limit 1
""")
# The campaign that has a slug now comes first, open or not. A slug that no campaign has leads to the one that had it
# before.
_BY_SLUG = Lookup(f"""
{_SHOWN}
cross join lateral (
  select coalesce(
    (select id from program where organization_id = o.id and slug = %(slug)s),
    (select program_id from program_former_slug where organization_id = o.id and slug = %(slug)s)) as id
  offset 0
) named
join program p on p.organization_id = o.id and p.id = named.id
{_OPEN}
""")


def any_org_find_landing(*, handle: str, slug: str | None) -> Landing | None:
    """Return an open campaign by the organization's subdomain and a slug that it has or had.

    Without a slug the primary campaign, or the oldest open one while the primary is not open.
    """
    return _LANDINGS.first(_MAIN if slug is None else _BY_SLUG, {"handle": handle, "slug": slug})


class Address(NamedTuple):
    """The public address of a campaign: the organization's subdomain and the campaign's slug."""

    handle: str
    slug: str


_ADDRESSES = Rows(Address)
_ANY_ORG_DOMAIN = """
select o.subdomain, p.slug from program p join organization o on o.id = p.organization_id
where p.custom_domain = %s and p.custom_domain_verified and p.archived_at is null and o.subdomain is not null
"""


def any_org_find_by_domain(host: str) -> Address | None:
    """Return the address of the campaign with a verified custom domain."""
    return _ADDRESSES.first(_ANY_ORG_DOMAIN, (host,))


class BrandHost(NamedTuple):
    """The brand that a host belongs to, by its handle, and the campaign whose own domain it is."""

    handle: str
    slug: str | None


_HOSTS = Rows(BrandHost)
_ANY_ORG_HOST = """
select o.subdomain, p.slug from program p join organization o on o.id = p.organization_id
where p.custom_domain = %(host)s and p.custom_domain_verified and p.archived_at is null and o.subdomain is not null
union all
select subdomain, null from organization
where (portal_host = %(host)s or subdomain = %(handle)s) and subdomain is not null limit 1
"""


def any_org_find_by_host(*, host: str, handle: str | None) -> BrandHost | None:
    """Return the brand of a host: a campaign's verified domain, a brand's portal host, or its subdomain (`handle`)."""
    return _HOSTS.first(_ANY_ORG_HOST, {"host": host, "handle": handle})


@dataclass(frozen=True, slots=True)
class ApplicationFacts:
    """The facts of an applicant and of the slugs they might get, read at once so that response times reveal nothing.

    `affiliate_id` is theirs if they are in this campaign already; `slug` is theirs in the organization's other
    campaigns. A slug is shared if a link anywhere in the service has it: a second link with it needs its program, too.
    """

    affiliate_id: UUID | None
    slug: str | None
    is_alias_taken: bool
    is_spare_taken: bool
    is_alias_shared: bool
    is_spare_shared: bool

    def is_shared(self, slug: str, *, alias: str | None) -> bool:
        """Return whether a link with this one of the three slugs needs its program; `slug` has a link already."""
        if slug == self.slug:
            return True
        return self.is_alias_shared if slug == alias else self.is_spare_shared


_FACTS = Rows(ApplicationFacts)
# The slug of a deleted affiliate's link stays taken, also for the person who had it. An account's slug is available to
# no applicant, not even with that account's email: a caller who tries emails must not learn whose it is. Within this
# organization its holder keeps it.
_READ_FACTS = """
select
  (select id from affiliate
   where organization_id = %(org)s and program_id = %(program)s and email = %(email)s and deleted_at is null),
  (select l.slug from affiliate a
   join tracking_link l on l.organization_id = a.organization_id and l.affiliate_id = a.id
   where a.organization_id = %(org)s and a.email = %(email)s and a.deleted_at is null
     and l.is_default and l.deleted_at is null
     and not exists (select from tracking_link t where t.organization_id = %(org)s and t.slug = l.slug
       and t.program_id = %(program)s and t.affiliate_id <> a.id and t.deleted_at is null)
   order by l.created_at limit 1),
  exists (select from tracking_link l
   join affiliate a on a.organization_id = l.organization_id and a.id = l.affiliate_id
   where l.organization_id = %(org)s and l.slug = %(alias)s and l.deleted_at is null
     and (a.email <> %(email)s or (l.program_id = %(program)s and a.deleted_at is not null)))
  or exists (select from old_token t
   join tracking_link l on l.organization_id = t.organization_id and l.id = t.link_id
   join affiliate a on a.organization_id = l.organization_id and a.id = l.affiliate_id
   where t.organization_id = %(org)s and t.token = %(alias)s and l.deleted_at is null
     and (a.email <> %(email)s or (l.program_id = %(program)s and a.deleted_at is not null)))
  or exists (select from affiliate_account where slug = %(alias)s)
     and not exists (select from tracking_link
       where organization_id = %(org)s and slug = %(alias)s and deleted_at is null),
  exists (select from tracking_link where organization_id = %(org)s and slug = %(spare)s and deleted_at is null)
  or exists (select from old_token where organization_id = %(org)s and token = %(spare)s)
  or exists (select from affiliate_account where slug = %(spare)s),
  is_slug_taken_anywhere(%(alias)s),
  is_slug_taken_anywhere(%(spare)s)
"""


def read_application_facts(
    *, organization_id: UUID, program_id: UUID, email: str, alias: str | None, spare: str
) -> ApplicationFacts:
    """Return the facts of an application. `spare` is the slug for an applicant who has none."""
    params = {"org": organization_id, "program": program_id, "email": email, "alias": alias, "spare": spare}
    facts = _FACTS.first(_READ_FACTS, params)
    assert facts is not None
    return facts


@dataclass(frozen=True, slots=True)
class Portal:
    """The parts of an affiliate's recruiting link, as far as the brand has set them up."""

    program_slug: str
    is_recruiting: bool
    portal_host: str | None
    custom_domain: str | None
    subdomain: str | None
    account_slug: str | None
    link_slug: str | None


_PORTALS = Rows(Portal)
_PORTAL = """
select p.slug, p.sub_affiliate_enabled, o.portal_host, case when p.custom_domain_verified then p.custom_domain end,
  o.subdomain, c.slug, l.slug
from affiliate a
join program p on p.organization_id = a.organization_id and p.id = a.program_id
join organization o on o.id = a.organization_id
left join affiliate_account c on c.id = a.account_id
left join tracking_link l on l.organization_id = a.organization_id and l.affiliate_id = a.id
  and l.is_default and l.deleted_at is null
where a.organization_id = %s and a.id = %s
"""


def find_portal(*, organization_id: UUID, affiliate_id: UUID) -> Portal:
    """Return the parts of an affiliate's recruiting link."""
    portal = _PORTALS.first(_PORTAL, (organization_id, affiliate_id))
    assert portal is not None  # the caller has read the affiliate
    return portal


class Discoverable(NamedTuple):
    """The address of a campaign's public page, and when the campaign was changed last."""

    handle: str
    slug: str
    updated_at: datetime


_DISCOVERABLE = Rows(Discoverable)
_FROM_DISCOVERABLE = f"""
from program p join organization o on o.id = p.organization_id
where p.is_publicly_discoverable and {OPEN_PROGRAM} and o.subdomain is not null
"""
_COUNT_DISCOVERABLE = f"select count(*) {_FROM_DISCOVERABLE}"
_DISCOVERABLE_PAGE = f"select o.subdomain, p.slug, p.updated_at {_FROM_DISCOVERABLE} order by p.id offset %s limit %s"
_DISCOVERABLE_OF_BRAND = f"""
select o.subdomain, p.slug, p.updated_at {_FROM_DISCOVERABLE}
and o.subdomain = %(handle)s and (%(slug)s::text is null or p.slug = %(slug)s) order by p.id limit %(limit)s
"""


def any_org_count_discoverable() -> int:
    """Return how many open campaigns of all brands are publicly discoverable."""
    return int(db.run(_COUNT_DISCOVERABLE)[0][0])


def any_org_list_discoverable(*, after: int, limit: int) -> list[Discoverable]:
    """Return up to `limit` of them in a stable order, without the first `after`."""
    return _DISCOVERABLE.all(_DISCOVERABLE_PAGE, (after, limit))


def any_org_list_discoverable_of_brand(*, handle: str, slug: str | None, limit: int) -> list[Discoverable]:
    """Return up to `limit` of them of the brand with this handle, or the one with this slug."""
    return _DISCOVERABLE.all(_DISCOVERABLE_OF_BRAND, {"handle": handle, "slug": slug, "limit": limit})
