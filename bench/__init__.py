"""Benchmarks of the product against minimal baselines (anchors): `python -m bench [--quick] [--only NAME]`."""
