"""The version of this client: that of the service whose interface it was generated from."""

VERSION = "0.2.0"
