"""Times on pages."""
