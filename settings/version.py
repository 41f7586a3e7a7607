"""The version of this release; setup.cfg reads it here, and `make release` writes it."""

VERSION = "0.2.0"
