"""Texts that people and programs exchange: cells of files, single lines, and values that another release stored."""
