"""Rules about the tests themselves."""
