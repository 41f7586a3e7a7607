"""Amounts, currencies, rates and what an amount was worth at a date. Integers and Decimal, half to even."""
