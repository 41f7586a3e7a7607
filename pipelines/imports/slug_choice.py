"""Choice of the slugs of imported affiliates, with a warning if one differs from the slug in its row."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from domain.imports import former_slugs
from domain.imports.former_slugs import FormerSlug
from domain.imports.warnings import RowWarning
from models.affiliates import tracking_links
from pipelines.affiliates import enrollment


@dataclass(frozen=True, slots=True)
class ChosenSlugs:
    """The slugs of one affiliate, the default one first, and a warning if it differs from the slug in the row."""

    slugs: Sequence[str]
    warning: RowWarning | None = None


def choose(organization_id: UUID, rows: Sequence[Mapping[str, Any]]) -> list[ChosenSlugs]:
    """Return the slugs of each row: the person's existing default slug, the one in the row, or a new one.

    A row without a slug gets a random one; every other result depends on the rows and the database alone, so that a
    preview shows what the import does.
    Budget: 2 round trips; one more if rows have no slug, and one if a slug is not available.
    """
    current = tracking_links.find_default_slugs(organization_id=organization_id, emails=[row["email"] for row in rows])
    former = [former_slugs.check(row["slug"]) if row["slug"] else None for row in rows]
    brought = Counter(candidate.text for candidate in former if candidate)
    owners = tracking_links.find_owners(organization_id=organization_id, slugs=list(brought))
    replaced = {
        candidate.text
        for row, candidate in zip(rows, former, strict=True)
        if candidate
        and (
            candidate.problem or brought[candidate.text] > 1 or not owners.get(candidate.text, set()) <= {row["email"]}
        )
    }
    candidates = _list_replacements(organization_id, replaced, brought, owners)
    is_fresh = [candidate is None and row["email"] not in current for row, candidate in zip(rows, former, strict=True)]
    fresh = iter(
        _draw_slugs(
            organization_id,
            sum(is_fresh),
            excluded={*brought, *(candidate for c in candidates.values() for candidate in c)},
        )
    )
    chooser = _Chooser(owners, current, candidates)
    return [
        ChosenSlugs([current.get(row["email"]) or next(fresh)])
        if candidate is None
        else chooser.choose(row["email"], candidate)
        for row, candidate in zip(rows, former, strict=True)
    ]


def _list_replacements(
    organization_id: UUID, replaced: set[str], brought: Mapping[str, int], owners: dict[str, set[str]]
) -> dict[str, list[str]]:
    """Return replacement candidates of each slug, without slugs of other rows; add their current owners to `owners`."""
    by_slug = {
        text: [
            candidate
            for candidate in former_slugs.list_replacements(text, seed=str(organization_id))
            if candidate not in brought
        ]
        for text in replaced
    }
    unknown = {candidate for candidates in by_slug.values() for candidate in candidates}
    if unknown:
        owners |= tracking_links.find_owners(organization_id=organization_id, slugs=list(unknown))
    return by_slug


class _Chooser:
    """Chooses slugs row by row; a slug that one row gets is taken for the later ones."""

    def __init__(
        self, owners: dict[str, set[str]], current: Mapping[str, str], candidates: Mapping[str, Sequence[str]]
    ) -> None:
        self._owners = owners
        self._current = current
        self._candidates = candidates

    def choose(self, email: str, former: FormerSlug) -> ChosenSlugs:
        """Return the slugs of a person whose row has one."""
        is_free = self._is_free(former.text, email)
        current = self._current.get(email)
        if former.text == current:  # also a number from before numbers were reserved
            return ChosenSlugs([current])
        if former.problem is None and is_free:
            self._take(email, former.text)
            return ChosenSlugs([former.text] if current is None else [current, former.text])
        default = current or self._replacement(email, former.text)
        if former.may_be_alias and is_free:
            self._take(email, former.text)
            return ChosenSlugs([default, former.text], RowWarning("slug_is_alias", former.text, default))
        problem = former.problem if is_free and former.problem else "slug_taken"
        return ChosenSlugs([default], RowWarning(problem, former.text, default))

    def _replacement(self, email: str, text: str) -> str:
        free = (candidate for candidate in self._candidates[text] if self._is_free(candidate, email))
        chosen = next(free, None) or enrollment.random_slug()
        self._take(email, chosen)
        return chosen

    def _is_free(self, slug: str, email: str) -> bool:
        return self._owners.get(slug, set()) <= {email}

    def _take(self, email: str, slug: str) -> None:
        self._owners.setdefault(slug, set()).add(email)


def _draw_slugs(organization_id: UUID, count: int, *, excluded: set[str]) -> list[str]:
    # Drawn for all rows at once; of 31 to the power of 8 hardly one is taken, and then it is drawn again.
    drawn: set[str] = set()
    while len(drawn) < count:
        more = {enrollment.random_slug() for _ in range(count - len(drawn))} - excluded
        drawn |= more - tracking_links.find_owners(organization_id=organization_id, slugs=list(more)).keys()
    return list(drawn)
