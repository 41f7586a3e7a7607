"""Digests of what a switch brought: equal for two runs that brought the same, however they were interrupted."""

import hashlib
from collections.abc import Iterator
from uuid import UUID

from domain.switches.sources import WRITTEN, Collection
from models.switches.written_rows import brought_lines

_SLICE_ROWS = 10_000
#: The name of the digest over all collections.
ALL = "all"


def compute(*, organization_id: UUID, switch_id: UUID) -> dict[str, str]:
    """Return the SHA-256 of the brought records of each collection, as hexadecimal text, and one over all (`all`).

    Records are taken in the order of their source ids, without ids, times and generated slugs of this service. It reads
    all rows of the switch, for a command.
    """
    digests = {}
    for collection in WRITTEN:
        digest = hashlib.sha256()
        for source_id, line in _list_lines(organization_id, switch_id, collection):
            digest.update(f"{source_id}\t{line}\n".encode())
        digests[collection.value] = digest.hexdigest()
    together = "".join(f"{name} {digest}\n" for name, digest in digests.items())
    return digests | {ALL: hashlib.sha256(together.encode()).hexdigest()}


def _list_lines(organization_id: UUID, switch_id: UUID, collection: Collection) -> Iterator[tuple[str, str]]:
    key = {"organization_id": organization_id, "switch_id": switch_id}
    after = ""
    while lines := brought_lines.list_lines(**key, collection=collection.value, after=after, limit=_SLICE_ROWS):
        yield from lines
        after = lines[-1][0]
    if collection == Collection.Customers:
        yield from brought_lines.list_counted(**key)
