"""Text for the cells of a CSV file that people open in a spreadsheet."""

import re

# In both widths: spreadsheets on Japanese or Chinese systems treat the wide ones like the narrow ones.
_FORMULA_STARTS = frozenset("=+-@\uff1d\uff0b\uff0d\uff20")
# Some spreadsheets drop these and parse the rest as the cell.
_BREAKS = frozenset("\t\r\n")


# On systems whose list separator is a semicolon or a tab, a cell ends at one even inside our quotation marks, and a row
# at a line break, because our quotation marks are not at the start of what such a spreadsheet parses as a cell.
_CELL_ENDS = re.compile("([;\uff1b\t\r\n])")


def escape(text: str) -> str:
    """Return free text in a form that no spreadsheet executes: an apostrophe precedes anything like a formula.

    Formulas after white space and invisible characters, which many imports strip, count as well, and so do those after
    a semicolon, tab or line break, where a spreadsheet may start another cell, with or without quotation marks. Numbers
    that the service writes are not free text and not passed here: -5 must stay a number.
    """
    first, *others = _CELL_ENDS.split(text)
    if others:
        separators, cells = others[::2], others[1::2]
        pairs = zip(separators, cells, strict=True)
        safe_text = _escape(first) + "".join(mark + _escape(cell, skipped='"') for mark, cell in pairs)
    else:
        safe_text = _escape(text)
    return f"'{safe_text}" if text[:1] in _BREAKS or (safe_text[:1] != "'" and _is_formula(text)) else safe_text


def _escape(cell: str, *, skipped: str = "") -> str:
    return f"'{cell}" if _is_formula(cell, skipped=skipped) else cell


def _is_formula(cell: str, *, skipped: str = "") -> bool:
    visible = (character for character in cell if character.isprintable() and not character.isspace())
    return next((character for character in visible if character not in skipped), "") in _FORMULA_STARTS
