"""Clicks and when they earn; attribution parameters, channel tags, the script's tag."""
