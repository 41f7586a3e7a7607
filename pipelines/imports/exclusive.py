"""One import of an organization at a time, and none while a switch writes or takes back records."""

from uuid import UUID

from domain.refusals import Refused
from models import advisory_locks
from models.switches import switches


def hold(organization_id: UUID) -> None:
    """Take the organization's import lock until the transaction ends.

    Raises Refused 409 migration_already_in_progress. Budget: 2 round trips.
    """
    if not advisory_locks.try_import_lock(organization_id):
        message = "Another import of this organization is still running. Try again when it has ended."
    elif switches.is_writing(organization_id=organization_id):
        message = "A switch from another system is writing. Try again when it has ended: see Switch."
    else:
        return
    raise Refused(409, "migration_already_in_progress", message)
