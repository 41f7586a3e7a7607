"""The platforms of the tests: each speaks one platform's language over HTTP, on a port of this machine."""
