"""Writes the generated half of the Python and the JavaScript client from the description of the interface.

    reading     which operations a key may call, and the records that they take and give
    python      those as Python: typed dictionaries, and a class of methods per group
    javascript  the same as an ES module with declarations for TypeScript

`python -m integrations.generate` writes them anew (`make sdk`); a rule test compares what is committed.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from integrations.generate import javascript, python, reading

ROOT = Path(__file__).resolve().parents[1]


def files(document: Mapping[str, Any]) -> dict[Path, str]:
    """Return the whole text of every generated file by its path. The same document gives the same files."""
    interface = reading.interface(document)
    return {
        **{ROOT / "python/finderfee/generated" / name: text for name, text in python.files(interface).items()},
        **{ROOT / "javascript/src/generated" / name: text for name, text in javascript.files(interface).items()},
    }


def stale(made: Mapping[Path, str]) -> list[Path]:
    """Return the files on disk that are not as they would be made now, those too many included."""
    folders = {path.parent for path in made}
    there = {path for folder in folders for path in folder.glob("*") if path.is_file()}
    changed = {path for path, text in made.items() if path not in there or path.read_text("utf-8") != text}
    return sorted(changed | (there - made.keys()))
