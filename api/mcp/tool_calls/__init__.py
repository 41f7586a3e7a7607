"""Tool calls: the call itself, the preview of a dangerous one, and its confirmation."""
