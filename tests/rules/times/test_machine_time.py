"""Times that are stored or compared come from the database's clock: `adapters.clock.now`, or SQL's own `now()`.

A machine's clock may be hours off. Measuring a duration (`time.monotonic`) is allowed.
"""

import ast

from tests.support import trees

_LAYERS = [layer for layer in trees.PRODUCT if layer != "bench"]
_MACHINE_TIME = {
    *("datetime.now", "datetime.utcnow", "datetime.today", "date.today"),
    *("time.time", "time.time_ns", "time.gmtime", "time.localtime", "time.ctime"),
    *("time.CLOCK_REALTIME", "formatdate", "localtime"),
}
#: The modules that may read the machine's time, and why.
_ALLOWED = {
    "adapters/clock/__init__.py": "until the process follows the database's clock",
    "models/session/database_clock.py": "until the database's clock is read, and to report the machine's offset",
    "commands/demo/certificate.py": "of the demo's own servers, on one machine",
    "commands/demo/gateway/account.py": "a simulated payment service",
    "commands/demo/gateway/server.py": "a simulated payment service",
    "commands/demo/receiver.py": "a simulated brand's server",
}


def test_only_listed_modules_read_the_machines_time_of_day():
    reading = {
        trees.relative_name(path) for path in trees.list_files(*_LAYERS) if _find_machine_times(trees.parse_file(path))
    }

    assert reading == set(_ALLOWED)


def test_pipelines_and_models_receive_the_time():
    paths = [
        path for path in trees.list_files("domain", "models", "pipelines", "schemas") if "clock" in path.read_text()
    ]
    reading = [trees.relative_name(path) for path in paths if "clock.now" in _list_dotted_names(trees.parse_file(path))]

    assert reading == []


def test_every_connecting_process_uses_the_database_clock():
    names = {
        trees.relative_name(path): _list_dotted_names(trees.parse_file(path))
        for path in [*trees.list_files(*_LAYERS), trees.ROOT / "app.py"]
    }
    connecting = {name for name, used in names.items() if "db.connect_to" in used}

    assert connecting == {"app.py", "commands/service/up.py", "workers/fleet.py"}
    assert [name for name in sorted(connecting) if "clock.use_database_clock" not in names[name]] == []


def test_every_read_of_the_machine_time_is_found():
    ways = {"datetime.now", "datetime.utcnow", "date.today", "time.time", "time.time_ns"}
    code = "at = datetime.now(UTC), x.datetime.utcnow(), date.today\ndef f(now=time.time): from time import time_ns"

    assert _find_machine_times(ast.parse(code)) == ways
    assert _find_machine_times(ast.parse("time.monotonic(); clock.now(); findings.now(); found.st_mtime_ns")) == set()


def _find_machine_times(tree: ast.Module) -> set[str]:
    imported = {
        f"{node.module}.{name.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    return (_list_dotted_names(tree) | imported) & _MACHINE_TIME


def _list_dotted_names(tree: ast.Module) -> set[str]:
    """Return the last two parts of every dotted name."""
    parts = [ast.unparse(node).split(".")[-2:] for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return {".".join(pair) for pair in parts}
