"""Tracking links as visitors follow them: an address has a slug, sometimes a campaign, never a tenant.

In place of a slug it may have an old token, that is a token of the brand's former system. `tokens` are its spellings.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from domain.statuses import AffiliateStatus
from models.affiliates import slug_links
from models.conditions import OPEN_PROGRAM
from models.db import db
from models.prepared_statements import Lookup
from models.table import Rows


@dataclass(frozen=True, slots=True)
class Link:
    """The link that a slug leads to. `is_open`: its program is active, neither archived nor suspended.

    `door_mode` is how the program's checkout door works; None while it is disabled. `gateways` are the brand's
    connections, `attribution_params` the parameters that it adds to the service's own.
    """

    organization_id: UUID
    program_id: UUID
    program_slug: str
    program_name: str
    affiliate_id: UUID
    affiliate_status: str
    is_open: bool
    is_archived: bool
    is_test: bool
    slug: str
    cookie_window_days: int
    attribution_model: str
    destination_url: str | None
    door_mode: str | None
    gateways: tuple[str, ...]
    attribution_params: str | None

    @property
    def can_earn(self) -> bool:
        """Return whether a visit counts for the affiliate now."""
        return self.is_open and self.affiliate_status == AffiliateStatus.Approved


_LINKS = f"""
select l.organization_id, p.id, p.slug, p.name, a.id, a.status,
  {OPEN_PROGRAM}, p.archived_at is not null, a.is_test, l.slug, p.cookie_window_days, p.attribution_model,
  p.referral_destination_url, case when p.hosted_checkout_door_enabled then p.hosted_checkout_door_mode end,
  o.connected_gateways, o.attribution_params
from {slug_links.matches_sql(organization=None)} l
join affiliate a on a.organization_id = l.organization_id and a.id = l.affiliate_id
join program p on p.organization_id = l.organization_id and p.id = l.program_id
join organization o on o.id = l.organization_id
where a.deleted_at is null
"""
# A match by another text goes first; a visitor is never led to another brand's link because the own one earns nothing.
_EARNING = f"l.place, (a.status = 'Approved' and {OPEN_PROGRAM}) desc, l.created_at, l.id limit 1"
_ROWS = Rows(Link)
_FIND = Lookup(f"""{_LINKS} order by {_EARNING}""")
_FIND_BARE = Lookup(f"""{_LINKS} and not l.needs_program order by {_EARNING}""")
_FIND_BY_ID = Lookup(f"""{_LINKS} and p.id = %(program)s order by {_EARNING}""")
# A tag contains its campaign, but visitors come to the site by links of any campaign of the brand. The tag's own link
# goes first unless it earns nothing now and another does.
_FIND_BY_TAG = Lookup(f"""{_LINKS} and l.organization_id = (select organization_id from program where id = %(program)s)
order by l.place, (a.status = 'Approved' and {OPEN_PROGRAM}) desc, (p.id = %(program)s) desc, l.created_at, l.id
limit 1""")
# Two brands may have campaigns with the same slug: the first to have the pair keeps its visitors permanently, even
# while it earns nothing and after it has ended. Within an organization a pair has one undeleted link.
# By an old token the pair is that of its link's slug.
_FIND_BY_SLUG = Lookup(f"""{_LINKS} and p.slug = %(program)s and l.organization_id =
  (select organization_id from link_address where program_slug = %(program)s and slug = l.slug) order by l.place""")
# Links of the organization whose store has the pixel, while the store is connected.
_FIND_BY_PIXEL = Lookup(f"""{_LINKS} and l.organization_id =
  (select organization_id from web_pixel where public_key = %(key)s and ended_at is null) order by {_EARNING}""")


def any_org_find_by_pixel(*, slug: str, tokens: Sequence[str], public_key: str) -> Link | None:
    """Return the link of a lower-case slug in the organization whose web pixel has this key, or None.

    Budget: 1 statement, 2 without a result.
    """
    return _ROWS.first(_FIND_BY_PIXEL, {"slug": slug, "tokens": list(tokens), "key": public_key})


def any_org_find_by_tag(*, slug: str, tokens: Sequence[str], program_id: UUID) -> Link | None:
    """Return the link of a lower-case slug for a page with a program's tag; None for another brand's slug.

    The link of that program comes first, then one of another program of the same organization. Budget: 1 statement,
    2 without a result.
    """
    return _ROWS.first(_FIND_BY_TAG, {"slug": slug, "tokens": list(tokens), "program": program_id})


def any_org_find(*, slug: str, tokens: Sequence[str], program: str | None, is_shared_bare: bool = False) -> Link | None:
    """Return the link of a lower-case slug; `program` is a program's id or slug.

    Links that can earn now come first, then the oldest. Old tokens of several brands lead to the first brand's link.
    With a program's slug only the organization that had both slugs first counts.
    `is_shared_bare` is for an address without a program: only the link that is shared under that address counts, so
    that no visitor is led to another brand.
    Budget: 1 statement, 2 without a result.
    """
    if program is None:
        return _ROWS.first(_FIND_BARE if is_shared_bare else _FIND, {"slug": slug, "tokens": list(tokens)})
    program_id = program_id_from_text(program)
    statement = _FIND_BY_SLUG if program_id is None else _FIND_BY_ID
    return _ROWS.first(statement, {"slug": slug, "tokens": list(tokens), "program": program_id or program.lower()})


_MARK_INSTALLED = """
update program set install_seen_at = %(at)s
where id = %(program)s and (install_seen_at is null or install_seen_at < %(before)s)
"""


def any_org_stage_install_seen(*, program_id: UUID, at: datetime, at_most_every: timedelta) -> None:
    """Stage that a page of this program loaded one of our files, unless that was recorded within `at_most_every`."""
    db.stage(_MARK_INSTALLED, {"at": at, "program": program_id, "before": at - at_most_every})


_MARK_SCRIPT = """
update program set script_seen_at = %(at)s, install_seen_at = %(at)s,
  script_origin = coalesce(%(origin)s, script_origin)
where id in (
  select id from program where id = %(program)s and (script_seen_at is null or script_seen_at < %(before)s)
  for no key update skip locked
)
"""


def any_org_stage_script_seen(*, program_id: UUID, origin: str | None, at: datetime, at_most_every: timedelta) -> None:
    """Stage that the script ran on a page of this program, unless that was recorded within `at_most_every`.

    Never waits: a program row that is locked is updated the next time.
    """
    db.stage(
        _MARK_SCRIPT,
        {"at": at, "origin": origin, "program": program_id, "before": at - at_most_every},
    )


def program_id_from_text(program: str) -> UUID | None:
    """Return the program id in a text; None for a program's slug."""
    try:
        return UUID(program)
    except ValueError:
        return None
