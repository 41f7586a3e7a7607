"""The shop systems."""
