"""Text for the cells of a CSV file that people open in a spreadsheet."""

# In both widths: a spreadsheet of a Japanese or Chinese system reads the wide ones as their narrow twins.
_STARTS_A_FORMULA = frozenset("=+-@\uff1d\uff0b\uff0d\uff20")
# Some drop these and read what comes next as the cell.
_BREAKS_OUT = frozenset("\t\r\n")


def safe(text: str) -> str:
    """Return free text so that no spreadsheet runs it: what looks like a formula gets an apostrophe in front.

    White space and invisible characters before a formula don't hide it: many an import strips them.
    Numbers that the service writes itself are not free text and don't come here: -5 is to stay a number.
    """
    seen = next((character for character in text if character.isprintable() and not character.isspace()), "")
    return f"'{text}" if seen in _STARTS_A_FORMULA or text[:1] in _BREAKS_OUT else text
