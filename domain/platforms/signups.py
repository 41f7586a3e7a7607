"""The slugs in a platform's own record of a person.

They were entered by people and forms, so they are only claims: slugs are looked up within the organization alone.
Source: tracking spec, "Attribution method taxonomy" (Platform match) and section 8, step 6.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from domain import links
from domain.slugs import read as read_slug

#: The default fields of the slug, in this order.
SLUG_FIELDS = ("affiliate_slug", "via")


@dataclass(frozen=True, slots=True, kw_only=True)
class SignupRecord:
    """A platform's record of a person; everything may be empty.

    `fields` are custom ones by name, `addresses` the URLs that the person came to and from, `marks` the utm fields by
    name. Tags look like `via:anna`.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    marks: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SignupClaim:
    """A slug in a platform's record of a buyer."""

    platform: str
    slug: str


@dataclass(frozen=True, slots=True)
class Signups:
    """The platforms' claims about a buyer in order of priority; `is_last`: there is no further lookup."""

    claims: tuple[SignupClaim, ...] = ()
    is_last: bool = False


NO_SIGNUPS = Signups()


def list_slugs(record: SignupRecord, *, names: Sequence[str], parameters: Sequence[str]) -> list[str]:
    """Return the slugs in a record in order of priority, each once.

    First the custom fields `names`, then tags under such a name, then the organization's `parameters`: in the URLs,
    then as utm fields. Names and slugs are found in any case; invalid slugs are skipped.
    """
    candidates = (read_slug(text) for text in _list_texts(record, [name.lower() for name in names], parameters))
    return list(dict.fromkeys(slug for slug in candidates if slug is not None))


def _list_texts(record: SignupRecord, names: Sequence[str], parameters: Sequence[str]) -> Iterator[str]:
    fields = _lower_names(record.fields)
    yield from (fields.get(name, "") for name in names)
    tags = [(name.strip().lower(), text) for name, _, text in (tag.partition(":") for tag in record.tags)]
    yield from (text for name in names for tagged, text in tags if tagged == name)
    for address in record.addresses:
        yield from links.slugs_from_url(address, parameters)
    marks = _lower_names(record.marks)
    yield from (marks.get(parameter, "") for parameter in parameters)


def _lower_names(fields: Mapping[str, str]) -> Mapping[str, str]:
    return {name.lower(): text for name, text in fields.items()}
