"""The default link of each new affiliate: their first link's slug, else a fresh one."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from domain.switches.reasons import SwitchVerdict
from domain.switches.rules import link_rules
from models.affiliates import tracking_links
from models.switches.judgement import item_lookups, items, known_records
from models.switches.judgement.item_lookups import FirstLink
from models.switches.judgement.items import Item
from pipelines.switches.judgement import affiliate_verdicts, link_verdicts
from pipelines.switches.understanding.context import Judging


def choose(judging: Judging, slice_items: Sequence[Item]) -> None:
    """Stage the default link's slug of the new affiliates of a slice, and that their first link is it.

    A person who has a default slug in another program of the organization keeps it where the source brings none.
    Budget: 5 round trips for any number of rows.
    """
    new = [item for item in slice_items if item.verdict == SwitchVerdict.New and item.key is not None]
    new = [item for item in new if (item.decision or {}).get("link_id")]
    keys = sorted({item.key for item in new if item.key is not None})
    firsts = item_lookups.find_first_links(**judging.switch.key, keys=keys)
    current = tracking_links.find_default_slugs(
        organization_id=judging.switch.organization_id,
        emails=sorted({affiliate_verdicts.email_of(key) for key in keys}),
    )
    chooser = _Chooser(judging, new, firsts, current)
    affiliate_rows, link_rows = [], []
    for item in new:
        first = firsts.get(item.target_id) if item.target_id else None
        if first is not None and _is_slug(first):
            slug = first.token
            link_rows.append(_default_link_row(item, first))
        else:
            slug = chooser.fresh_slug(item)
        decision = dict(item.decision or {}) | {"slug": slug}
        affiliate_rows.append(_row(item.source_id, SwitchVerdict.New, decision, "affiliate", item.target_id, slug=slug))
    items.stage_verdicts(**judging.switch.key, collection="affiliates", verdicts=affiliate_rows)
    items.stage_verdicts(**judging.switch.key, collection="links", verdicts=link_rows)


def _is_slug(first: FirstLink) -> bool:
    return first.kind == link_verdicts.SLUG and first.verdict == SwitchVerdict.New


def _default_link_row(item: Item, first: FirstLink) -> dict[str, Any]:
    assert item.decision is not None  # it is new
    decision = {
        "affiliate_id": item.target_id,
        "program_id": item.program_id,
        "link_id": item.decision["link_id"],
        "slug": None,
        "old_token": None,
    }
    return _row(first.source_id, SwitchVerdict.New, decision, "link", UUID(item.decision["link_id"]))


def _row(
    source_id: str,
    verdict: SwitchVerdict,
    decision: Mapping[str, Any],
    target_type: str,
    target_id: UUID | None,
    *,
    slug: str | None = None,
) -> dict[str, Any]:
    return {
        "source_id": source_id,
        "verdict": verdict,
        "decision": decision,
        "target_type": target_type,
        "target_id": target_id,
        "customer_ref": f"slug:{slug}" if slug else None,
    }


class _Chooser:
    """Chooses fresh slugs that no link of the organization and no token of the switch has, one person after another."""

    def __init__(
        self,
        judging: Judging,
        new: Sequence[Item],
        firsts: Mapping[UUID, FirstLink],
        current: Mapping[str, str],
    ) -> None:
        self._seed = str(judging.switch.organization_id)
        self._firsts, self._current = firsts, current
        candidates = {slug for item in new for slug in self._candidates(item)}
        ordered = sorted(candidates)
        self._owners: dict[str, set[str]] = {}
        for text, links in known_records.find_links(
            organization_id=judging.switch.organization_id, texts=ordered
        ).items():
            self._owners[text] = {link.email for link in links}
        for slug, key in item_lookups.find_slug_owners(**judging.switch.key, slugs=ordered):
            self._owners.setdefault(slug, set()).add(affiliate_verdicts.email_of(key) if key else "")

    def fresh_slug(self, item: Item) -> str:
        """Return a slug for a person, which is then theirs."""
        email = affiliate_verdicts.email_of(item.key or "|")
        for slug in self._candidates(item):
            if self._owners.get(slug, set()) <= {email}:
                self._owners.setdefault(slug, set()).add(email)
                return slug
        raise AssertionError("the last candidates depend on the email, and no one else has them")

    def _candidates(self, item: Item) -> Iterator[str]:
        record = item.record or {}
        email = affiliate_verdicts.email_of(item.key or "|")
        if email in self._current:
            yield self._current[email]
        first = self._firsts.get(item.target_id) if item.target_id else None
        yield from link_rules.fresh_slugs(
            token=first.token if first else None, name=record.get("full_name") or "", email=email, seed=self._seed
        )
