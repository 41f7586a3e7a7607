"""Switches from each source, at its played server."""
