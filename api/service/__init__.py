"""The service itself: health, metrics, the description of the interface."""
