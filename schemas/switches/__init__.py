"""Switches from other affiliate systems, in the API.

switch   the sources, a switch, and the bodies that start and change it
files    the parts of exported files, their columns and first rows
preview  what Run would write, and the rows
undo     what an undo would remove and keep
"""
