"""Capacity planning from measured costs: processes, connections, disk, money, and the first limit of a load."""
