"""Text for the cells of a CSV file that people open in a spreadsheet."""

import re

# In both widths: a spreadsheet of a Japanese or Chinese system reads the wide ones as their narrow twins.
_STARTS_A_FORMULA = frozenset("=+-@\uff1d\uff0b\uff0d\uff20")
# Some drop these and read what comes next as the cell.
_BREAKS_OUT = frozenset("\t\r\n")


# Where the list separator of the system is a semicolon or a tab, a cell ends at one inside our quotation marks too, and
# a line at a line break: the quotation marks are not at the beginning of what such a spreadsheet takes for a cell.
_ENDS_A_CELL = re.compile("([;\uff1b\t\r\n])")


def safe(text: str) -> str:
    """Return free text so that no spreadsheet runs it: what looks like a formula gets an apostrophe in front.

    White space and invisible characters before a formula don't hide it: many an import strips them. Nor does a
    semicolon, tab or line break, at which a spreadsheet may begin another cell, with or without quotation marks.
    Numbers that the service writes itself are not free text and don't come here: -5 is to stay a number.
    """
    first, *others = _ENDS_A_CELL.split(text)
    if others:
        separators, cells = others[::2], others[1::2]
        pairs = zip(separators, cells, strict=True)
        safe_text = _marked(first) + "".join(mark + _marked(cell, skipped='"') for mark, cell in pairs)
    else:
        safe_text = _marked(text)
    return f"'{safe_text}" if text[:1] in _BREAKS_OUT or (safe_text[:1] != "'" and _is_formula(text)) else safe_text


def _marked(cell: str, *, skipped: str = "") -> str:
    return f"'{cell}" if _is_formula(cell, skipped=skipped) else cell


def _is_formula(cell: str, *, skipped: str = "") -> bool:
    seen = (character for character in cell if character.isprintable() and not character.isspace())
    return next((character for character in seen if character not in skipped), "") in _STARTS_A_FORMULA
