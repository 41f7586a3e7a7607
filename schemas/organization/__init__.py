"""A brand's settings in the API."""
