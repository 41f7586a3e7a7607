"""Switches from other affiliate systems: connect, read, judge, run, undo, forget.

steps  the jobs of a switch, staged by whatever leads to them
"""
