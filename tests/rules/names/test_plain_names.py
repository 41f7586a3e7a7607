"""Functions are named by a verb or a noun, and locals by what they hold.

A function called `found` or `whole` cannot be understood without its body, and a local called `told` says where a value
came from, not what it is. The ceilings are today's counts: lower them, never raise them.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import trees

_WORDS = defaultdict(set)
for _line in Path(__file__).with_name("unclear_words.txt").read_text().splitlines():
    _kind, _, _words = _line.partition(":")
    _WORDS[_kind] |= set(_words.split())
_UNCLEAR = _WORDS["participles"] | _WORDS["adjectives"] | _WORDS["other"]
_TESTS = ("tests",)

# The maximum numbers of functions with an unclear name and of vague locals.
_CEILINGS = {trees.PRODUCT: (7, 24), _TESTS: (1, 0)}


def _is_unclear(function: str) -> bool:
    """Return whether a function's name is a bare participle, adjective, adverb, pronoun or preposition."""
    word = function.strip("_")
    if function.startswith("__") or word in _WORDS["verbs"]:
        return False
    return word in _UNCLEAR or re.fullmatch("[a-z]+ed", word) is not None


@pytest.mark.parametrize("folders", _CEILINGS, ids=["product", "tests"])
def test_number_of_participle_functions_stays_below_the_ceiling(folders):
    unclear = [
        f"{place}:{node.lineno} {node.name}"
        for place, node in _list_nodes(folders)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_unclear(node.name)
    ]

    assert len(unclear) <= _CEILINGS[folders][0], "\n".join(unclear)


@pytest.mark.parametrize("folders", _CEILINGS, ids=["product", "tests"])
def test_number_of_vague_locals_stays_below_the_ceiling(folders):
    vague = [
        f"{place}:{node.lineno} {node.id}"
        for place, node in _list_nodes(folders)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in _WORDS["locals"]
    ]

    assert len(vague) <= _CEILINGS[folders][1], "\n".join(vague)


@pytest.mark.parametrize("name", ["_told", "found", "asked", "_whole", "renamed", "of", "whom"])
def test_unclear_name_is_recognized(name):
    assert _is_unclear(name)


@pytest.mark.parametrize("name", ["__enter__", "seed", "find_rows", "is_known", "amount_of", "payment"])
def test_clear_name_is_not_counted(name):
    assert not _is_unclear(name)


def _list_nodes(folders: tuple[str, ...]) -> Iterator[tuple[str, ast.AST]]:
    for path in trees.list_files(*folders):
        for node in ast.walk(trees.parse_file(path)):
            yield trees.relative_name(path), node
