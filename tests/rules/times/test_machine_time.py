"""Times that are written or compared come from the database's clock: `adapters.clock.now`, or SQL's own `now()`.

A machine's clock may be hours off. What only measures a span (`time.monotonic`) is free to use.
"""

import ast

from tests.support import trees

_LAYERS = [layer for layer in trees.PRODUCT if layer != "bench"]
_MACHINE_TIME = {
    *("datetime.now", "datetime.utcnow", "datetime.today", "date.today"),
    *("time.time", "time.time_ns", "time.gmtime", "time.localtime", "time.ctime"),
    *("time.CLOCK_REALTIME", "formatdate", "localtime"),
}
#: Who may ask the machine, and why.
_ALLOWED = {
    "adapters/clock/__init__.py": "before the database's clock is followed",
    "models/session/database_clock.py": "before the database's clock was read, and to say how far the machine's is off",
    "commands/demo/certificate.py": "of the demonstration's own servers, on one machine",
    "commands/demo/gateway/account.py": "a payment service of somebody else's, played",
    "commands/demo/gateway/server.py": "a payment service of somebody else's, played",
    "commands/demo/receiver.py": "a brand's server, played",
}


def test_only_listed_modules_read_the_machines_time_of_day():
    reading = {
        trees.relative_name(path) for path in trees.list_files(*_LAYERS) if _machine_times(trees.parse_file(path))
    }

    assert reading == set(_ALLOWED)


def test_pipelines_and_models_receive_the_time():
    paths = [
        path for path in trees.list_files("domain", "models", "pipelines", "schemas") if "clock" in path.read_text()
    ]
    asking = [trees.relative_name(path) for path in paths if "clock.now" in _names(trees.parse_file(path))]

    assert asking == []


def test_every_connecting_process_uses_the_database_clock():
    names = {
        trees.relative_name(path): _names(trees.parse_file(path))
        for path in [*trees.list_files(*_LAYERS), trees.ROOT / "app.py"]
    }
    connecting = {name for name, used in names.items() if "db.connect_to" in used}

    assert connecting == {"app.py", "commands/service/up.py", "workers/fleet.py"}
    assert [name for name in sorted(connecting) if "clock.use_database_clock" not in names[name]] == []


def test_every_read_of_the_machine_time_is_found():
    ways = {"datetime.now", "datetime.utcnow", "date.today", "time.time", "time.time_ns"}
    code = "at = datetime.now(UTC), x.datetime.utcnow(), date.today\ndef f(now=time.time): from time import time_ns"

    assert _machine_times(ast.parse(code)) == ways
    assert _machine_times(ast.parse("time.monotonic(); clock.now(); findings.now(); found.st_mtime_ns")) == set()


def _machine_times(tree: ast.Module) -> set[str]:
    imported = {
        f"{node.module}.{name.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    return (_names(tree) | imported) & _MACHINE_TIME


def _names(tree: ast.Module) -> set[str]:
    """Return what is named with a point, by its last two parts."""
    parts = [ast.unparse(node).split(".")[-2:] for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return {".".join(pair) for pair in parts}
