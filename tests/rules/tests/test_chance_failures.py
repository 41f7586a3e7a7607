"""Tests avoid the known causes of chance failures, so that their results do not depend on the process or machine."""

import ast
import gc
import re
import socket
import ssl
import struct
from collections.abc import Iterator

import pytest

from tests.support import trees

_FILES = [path for path in trees.list_files("tests") if path.name.startswith(("test_", "conftest"))]
# The timeout of every test in setup.cfg.
_DEFAULT_TIMEOUT_S = 300
_PLAN = re.compile(r"(^|[;\s])explain (\(|select|execute|\{|$)", re.IGNORECASE)


def test_query_plans_are_read_in_an_isolated_database():
    """The cost of a statement depends on the size of the tables, and other tests fill those of the shared database."""
    shared = [
        trees.relative_name(path)
        for path in _FILES
        if any(_PLAN.search(text) for text in _list_texts(trees.parse_file(path)))
        and "isolated_database" not in _list_names(trees.parse_file(path))
    ]

    assert shared == [], "query plans are read without the fixture `isolated_database`"


def test_helper_rows_have_ascending_ids():
    """The product's ids have a random order within a millisecond, and a test inserts about three rows in one."""
    random_ids = [
        f"{trees.relative_name(path)}:{call.lineno}"
        for path in trees.list_files("tests/support")
        for call in ast.walk(trees.parse_file(path))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "ids.new_id"
    ]

    (only_place,) = random_ids
    assert only_place.startswith("tests/support/running/row_ids.py"), "ids are made by `row_ids.new_id`"


def test_tests_read_the_date_while_they_run():
    """A date in a module or a mark is read when the run starts, and the run may end on another day."""
    early = [
        f"{trees.relative_name(path)}:{call.lineno}"
        for path in _FILES
        for call in _list_calls_at_import(trees.parse_file(path))
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("date", "today") and not call.args
    ]

    assert early == [], "a date is stored when the module is imported"


def test_no_module_stores_its_import_time():
    """A time one day before the import is two days ago once the run continues past midnight."""
    stored = [
        f"{trees.relative_name(path)}:{value.lineno}"
        for path in trees.list_files("tests")
        for value in _list_values_at_import(trees.parse_file(path))
        if any(_called_name(call) in ("now", "ago", "began") for call in _list_calls_at_import(ast.Expr(value)))
    ]

    assert [place for place in stored if not place.startswith("tests/support/running/hours.py")] == []


def test_no_test_waits_for_masked_signals():
    """A mask belongs to one thread: a signal between two waits goes to another thread and ends the process."""
    masked = {"pthread_sigmask", "sigtimedwait", "sigwait", "sigwaitinfo"}
    waiting = [
        f"{trees.relative_name(path)}:{node.lineno}"
        for path in trees.list_files("tests")
        for node in ast.walk(trees.parse_file(path))
        if isinstance(node, ast.Attribute) and node.attr in masked
    ]

    assert waiting == [], "install a handler that records the signal, and wait for the record"


def test_no_test_has_a_shorter_timeout():
    """A timeout ends a test that hangs; one shorter than the default would end a slow test on a busy machine."""
    too_short = [
        f"{trees.relative_name(path)}:{call.lineno}"
        for path in _FILES
        for call in ast.walk(trees.parse_file(path))
        if isinstance(call, ast.Call) and any(0 < limit < _DEFAULT_TIMEOUT_S for limit in _list_timeouts_s(call))
    ]

    assert too_short == []


def test_no_test_flushes_the_shared_server():
    """FLUSHDB empties the test's own database; scripts and the other databases are shared with other processes."""
    with_own_servers = "tests/faults/"
    flushing = [
        trees.relative_name(path)
        for path in trees.list_files("tests")
        if _list_names(trees.parse_file(path)) & {"script_flush", "flushall"}
        and not trees.relative_name(path).startswith(with_own_servers)
        and "tmp_path" not in _list_names(trees.parse_file(path))  # the test's own server
    ]

    assert flushing == []


def test_connection_reset_before_tls_is_closed(recwarn):
    """A socket closed by the garbage collector is a warning, and so a failure, in whichever test runs at that time."""
    server = socket.create_server(("127.0.0.1", 0))
    plain = socket.create_connection(server.getsockname())
    accepted, _ = server.accept()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closing sends a reset
    plain.close()
    server.close()

    with pytest.raises(ConnectionResetError):
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).wrap_socket(accepted, server_side=True)

    gc.collect()
    assert [str(warning.message) for warning in recwarn] == []


def _list_values_at_import(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield the values of a module's variables and of its functions' default parameters."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield from (value for value in (*node.args.defaults, *node.args.kw_defaults) if value is not None)
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            yield node.value


def _called_name(call: ast.Call) -> str:
    return getattr(call.func, "attr", None) or getattr(call.func, "id", "")


def _list_calls_at_import(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Call):
            yield node
        if isinstance(node, ast.FunctionDef):
            yield from (call for mark in node.decorator_list for call in _list_calls_at_import(mark))
        elif not isinstance(node, ast.Lambda):
            yield from _list_calls_at_import(node)


def _list_timeouts_s(call: ast.Call) -> Iterator[int]:
    """Yield the timeouts in seconds of a test, or of a program that it runs."""
    match ast.unparse(call.func):
        case "pytest.mark.timeout":
            yield from _list_numbers(call)
        case "subprocess.run":
            for keyword in call.keywords:
                yield from _list_numbers(keyword.value) if keyword.arg == "timeout" else ()


def _list_numbers(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            yield node.value


def _list_texts(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _list_names(tree: ast.Module) -> set[str]:
    """Return the names of parameters, attributes and marks that occur in a file."""
    names = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return names | set(_list_texts(tree))
