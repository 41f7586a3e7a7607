"""Finds the slugs that a platform's own record of a person names.

People and forms wrote them there, so they are claims: whom a slug leads to is looked up in the organization alone.
Source: tracking spec, "Attribution method taxonomy" (Platform match) and section 8, step 6.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from domain import links
from domain.slugs import read as read_slug

#: Where the slug stands unless the brand says otherwise, and where it is looked for behind that.
SLUG_FIELDS = ("affiliate_slug", "via")


@dataclass(frozen=True, slots=True, kw_only=True)
class SignupRecord:
    """What a platform knows of a person whom it knows; everything may be empty.

    `fields` are custom ones by name, `addresses` the pages that the person came to and from, `marks` the utm fields
    by name. Tags look like `via:anna`.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    marks: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SignupClaim:
    """A slug that a platform's record of a buyer names."""

    platform: str
    slug: str


@dataclass(frozen=True, slots=True)
class Signups:
    """What platforms claim of a buyer, in the order in which it counts; `is_last`: they are not asked again."""

    claims: tuple[SignupClaim, ...] = ()
    is_last: bool = False


NOT_ASKED = Signups()


def slugs(record: SignupRecord, *, names: Sequence[str], parameters: Sequence[str]) -> list[str]:
    """Return what a record claims, in the order in which it counts, each once.

    First the custom fields `names`, then tags under such a name, then the organization's `parameters`: in the
    addresses, then as utm fields. Names and slugs are found in any case; what could not be a slug is passed over.
    """
    claimed = (read_slug(text) for text in _said(record, [name.lower() for name in names], parameters))
    return list(dict.fromkeys(slug for slug in claimed if slug is not None))


def _said(record: SignupRecord, names: Sequence[str], parameters: Sequence[str]) -> Iterator[str]:
    fields = _any_case(record.fields)
    yield from (fields.get(name, "") for name in names)
    tags = [(name.strip().lower(), text) for name, _, text in (tag.partition(":") for tag in record.tags)]
    yield from (text for name in names for tagged, text in tags if tagged == name)
    for address in record.addresses:
        yield from links.slugs_from_url(address, parameters)
    marked = _any_case(record.marks)
    yield from (marked.get(parameter, "") for parameter in parameters)


def _any_case(told: Mapping[str, str]) -> Mapping[str, str]:
    return {name.lower(): text for name, text in told.items()}
