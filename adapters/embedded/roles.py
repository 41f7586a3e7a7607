"""Who may log in to the PostgreSQL of a data folder: the owner with a password, the service without powers.

The service asks for no password, because the socket folder has mode 0700 and a user who enters it may read the owner's
password as well. What it cannot do is become the owner by a statement or by another user name in a URL: it belongs to
finderfee_app alone, and the owner's password (SCRAM) is in a file that only migrations and operators name.
"""

import os
import secrets
from pathlib import Path

from adapters.embedded import places

#: The bootstrap superuser, who owns the database of the same name and its tables.
OWNER = "finderfee"
#: As whom web processes, workers and commands log in.
SERVICE = "finderfee_login"

#: pg_hba.conf, as a whole.
RULES = f"""\
# Written at each start (adapters/embedded/roles.py).
local all {OWNER} scram-sha-256
local replication {OWNER} scram-sha-256
local all {SERVICE} trust
"""

# The first migration makes finderfee_app where it is not there yet, and gives it its rights.
_MAKE = """\
do $$ begin create role finderfee_app nologin; exception when duplicate_object then null; end $$;
do $$ begin create role {service} login; exception when duplicate_object then null; end $$;
alter role {service} nosuperuser nocreatedb nocreaterole nobypassrls;
grant finderfee_app to {service};
alter role {owner} password '{password}';
"""


def are_made(place: places.Place) -> bool:
    """Return whether the cluster has them: the file with the owner's password is written once it does."""
    return place.owner_password.exists()


def statements(password: str) -> str:
    """Return what makes the roles, one statement a line; it may be run again."""
    return _MAKE.format(service=SERVICE, owner=OWNER, password=password)


def new_password() -> str:
    """Return a password that nobody has to type."""
    return secrets.token_urlsafe(24)


def keep(place: places.Place, password: str) -> None:
    """Write the owner's password where libpq reads it (`passfile` of a URL), whole or not at all."""
    draft = place.owner_password.with_suffix(".draft")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(f"*:*:*:{OWNER}:{password}\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(place.owner_password)


def rule(cluster: Path) -> None:
    """Write the rules of who may log in; the file stays its owner's. For a server that is not running."""
    rules = cluster / "pg_hba.conf"
    if rules.read_text() != RULES:
        rules.write_text(RULES)
