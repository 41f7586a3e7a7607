"""What Run writes.

written        slices of judged rows, and how far each collection is written
brought_sales  later states and refunds of conversions that were brought before
brought_lines  lines that describe what was brought, for its digest
"""
