"""One small dataclass of settings per concern. A new setting is one line in the file of its concern."""
