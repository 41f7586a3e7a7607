"""The past from another service: affiliates, conversions, and the history of imports with their undo."""
