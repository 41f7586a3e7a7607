"""Login roles of a data folder's PostgreSQL: the owner with a password, the service with few privileges.

The service needs no password, because the socket folder has mode 0700 and a user who can enter it can read the owner's
password as well. But it cannot become the owner by a statement or by another user name in a URL: it is a member of
finderfee_app only, and the owner's password (SCRAM) is in a file that only migrations and operators use.
"""

import os
import secrets
from pathlib import Path

from adapters.embedded import data_folder

#: The bootstrap superuser, who owns the database of the same name and its tables.
OWNER = "finderfee"
#: The role of web processes, workers and commands.
SERVICE = "finderfee_login"

#: The content of pg_hba.conf.
RULES = f"""\
# Written at each start (adapters/embedded/roles.py).
local all {OWNER} scram-sha-256
local replication {OWNER} scram-sha-256
local all {SERVICE} trust
"""

# The first migration creates finderfee_app if it is missing, and grants its privileges.
_CREATE = """\
do $$ begin create role finderfee_app nologin; exception when duplicate_object then null; end $$;
do $$ begin create role {service} login; exception when duplicate_object then null; end $$;
alter role {service} nosuperuser nocreatedb nocreaterole nobypassrls;
grant finderfee_app to {service};
alter role {owner} password '{password}';
"""


def exist(folder: data_folder.DataFolder) -> bool:
    """Return whether the roles exist: the owner's password file is written after them."""
    return folder.owner_password.exists()


def build_statements(password: str) -> str:
    """Return the idempotent statements that create the roles, one per line."""
    return _CREATE.format(service=SERVICE, owner=OWNER, password=password)


def new_password() -> str:
    """Return a random password."""
    return secrets.token_urlsafe(24)


def save_password(folder: data_folder.DataFolder, password: str) -> None:
    """Write the owner's password file atomically (`passfile` of a URL)."""
    draft = folder.owner_password.with_suffix(".draft")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(f"*:*:*:{OWNER}:{password}\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(folder.owner_password)


def write_rules(cluster: Path) -> None:
    """Write pg_hba.conf in place, so that the file's user stays the same; the server must not be running."""
    rules = cluster / "pg_hba.conf"
    if rules.read_text() != RULES:
        rules.write_text(RULES)
