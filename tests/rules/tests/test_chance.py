"""What makes a test fail by chance is not written: each is right whatever else its process and its machine do."""

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
# What setup.cfg gives every test.
_EVERYBODYS_S = 300
_PLAN = re.compile(r"(^|[;\s])explain (\(|select|execute|\{|$)", re.IGNORECASE)


def test_query_plans_are_read_in_an_isolated_database():
    """What a statement costs depends on the size of tables, which in the shared database other tests fill."""
    shared = [
        trees.relative_name(path)
        for path in _FILES
        if any(_PLAN.search(text) for text in _texts(trees.parse_file(path)))
        and "isolated_database" not in _names(trees.parse_file(path))
    ]

    assert shared == [], "plans are asked for without the fixture `isolated_database`"


def test_helper_rows_have_ascending_ids():
    """The product's are in the order of chance within a millisecond, and a row of a test takes a third of one."""
    by_chance = [
        f"{trees.relative_name(path)}:{call.lineno}"
        for path in trees.list_files("tests/support")
        for call in ast.walk(trees.parse_file(path))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "ids.new_id"
    ]

    (ours,) = by_chance
    assert ours.startswith("tests/support/running/row_ids.py"), "ids are made by `row_ids.new_id`"


def test_tests_read_the_date_while_they_run():
    """What is said of a module or in a mark holds from the beginning of a run, which may end on another day."""
    early = [
        f"{trees.relative_name(path)}:{call.lineno}"
        for path in _FILES
        for call in _calls_at_import(trees.parse_file(path))
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("date", "today") and not call.args
    ]

    assert early == [], "a day is kept from when the module was read"


def test_no_module_stores_its_import_time():
    """What is a day before that moment is two days ago when the run goes on past midnight."""
    kept = [
        f"{trees.relative_name(path)}:{value.lineno}"
        for path in trees.list_files("tests")
        for value in _values_at_import(trees.parse_file(path))
        if any(_name_of(call) in ("now", "ago", "began") for call in _calls_at_import(ast.Expr(value)))
    ]

    assert [place for place in kept if not place.startswith("tests/support/running/hours.py")] == []


def test_no_test_waits_for_masked_signals():
    """A mask is of one thread: a signal between two waits is given to another one, and ends the process."""
    masked = {"pthread_sigmask", "sigtimedwait", "sigwait", "sigwaitinfo"}
    waiting = [
        f"{trees.relative_name(path)}:{node.lineno}"
        for path in trees.list_files("tests")
        for node in ast.walk(trees.parse_file(path))
        if isinstance(node, ast.Attribute) and node.attr in masked
    ]

    assert waiting == [], "give the signal a handler that keeps it, and wait for what it kept"


def test_no_test_has_a_shorter_timeout():
    """A limit ends what hangs: a shorter one than everybody's ends what a busy machine is slow at."""
    hurried = [
        f"{trees.relative_name(path)}:{call.lineno}"
        for path in _FILES
        for call in ast.walk(trees.parse_file(path))
        if isinstance(call, ast.Call) and any(0 < limit < _EVERYBODYS_S for limit in _limits(call))
    ]

    assert hurried == []


def test_no_test_flushes_the_shared_server():
    """FLUSHDB is of one's own database; scripts and all databases are those of tests in other processes as well."""
    own = "tests/faults/"  # of machines that are theirs
    emptied = [
        trees.relative_name(path)
        for path in trees.list_files("tests")
        if _names(trees.parse_file(path)) & {"script_flush", "flushall"}
        and not trees.relative_name(path).startswith(own)
        and "tmp_path" not in _names(trees.parse_file(path))  # where a server of the test's own is
    ]

    assert emptied == []


def test_connection_reset_before_tls_is_closed(recwarn):
    """A socket that the collector closes is a warning, and so a failure, of the test that runs by then."""
    server = socket.create_server(("127.0.0.1", 0))
    plain = socket.create_connection(server.getsockname())
    taken, _ = server.accept()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # its end is a reset
    plain.close()
    server.close()

    with pytest.raises(ConnectionResetError):
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).wrap_socket(taken, server_side=True)

    gc.collect()
    assert [str(warning.message) for warning in recwarn] == []


def _values_at_import(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield what a module keeps under a name, and what its functions take where they are given nothing."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield from (value for value in (*node.args.defaults, *node.args.kw_defaults) if value is not None)
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            yield node.value


def _name_of(call: ast.Call) -> str:
    return getattr(call.func, "attr", None) or getattr(call.func, "id", "")


def _calls_at_import(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Call):
            yield node
        if isinstance(node, ast.FunctionDef):
            yield from (call for mark in node.decorator_list for call in _calls_at_import(mark))
        elif not isinstance(node, ast.Lambda):
            yield from _calls_at_import(node)


def _limits(call: ast.Call) -> Iterator[int]:
    """Yield the seconds that a test, or a program that it runs to its end, may take."""
    match ast.unparse(call.func):
        case "pytest.mark.timeout":
            yield from _numbers(call)
        case "subprocess.run":
            for named in call.keywords:
                yield from _numbers(named.value) if named.arg == "timeout" else ()


def _numbers(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            yield node.value


def _texts(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _names(tree: ast.Module) -> set[str]:
    """Return the names of parameters, attributes and marks that occur in a file."""
    found = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    found |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return found | set(_texts(tree))
