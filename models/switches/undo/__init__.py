"""The undo of a switch: what it takes back, and what it keeps.

slices     written rows that undo takes back
obstacles  what undo keeps, and why
removals   what undo takes back besides conversions
figures    what an undo would keep now
"""
