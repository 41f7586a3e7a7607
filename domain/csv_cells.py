"""Text for the cells of a CSV file that people open in a spreadsheet."""

_STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def safe(text: str) -> str:
    """Return free text so that no spreadsheet runs it: what looks like a formula gets an apostrophe in front.

    Numbers that the service writes itself are not free text and don't come here: -5 is to stay a number.
    """
    return f"'{text}" if text.startswith(_STARTS_A_FORMULA) else text
