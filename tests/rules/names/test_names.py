"""A name means one thing everywhere: public class names are unique, and modules are imported under their own names."""

import ast
from collections import defaultdict
from collections.abc import Iterator

from tests.support import trees

_FILES = trees.list_files(*trees.PRODUCT)


def test_public_class_names_are_unique():
    assert _list_duplicates() == {}


def test_module_alias_is_used_only_on_name_conflict():
    assert list(_list_needless_aliases()) == []


def _list_duplicates() -> dict[str, list[str]]:
    places: dict[str, list[str]] = defaultdict(list)
    for path in _FILES:
        for node in trees.parse_file(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(trees.relative_name(path))
    return {name: files for name, files in places.items() if len(files) > 1}


def _list_needless_aliases() -> Iterator[str]:
    """Yield each import of a product module under a needless alias or under an alias that ends in rules."""
    for path in _FILES:
        imports = [node for node in ast.walk(trees.parse_file(path)) if isinstance(node, ast.ImportFrom)]
        modules = [
            (node.module or "", name)
            for node in imports
            for name in node.names
            if _is_product_module(node.module, name.name)
        ]
        basenames = [name.name for _, name in modules]
        for package, name in modules:
            if name.asname and (basenames.count(name.name) == 1 or name.asname.endswith("rules")):
                yield f"{trees.relative_name(path)}: {package}.{name.name} as {name.asname}"


def _is_product_module(package: str | None, name: str) -> bool:
    """Return whether `from package import name` imports a module of the product."""
    folder = trees.ROOT.joinpath(*(package or "").split("."))
    return (package or "").split(".")[0] in trees.PRODUCT and (
        (folder / f"{name}.py").exists() or (folder / name).is_dir()
    )
