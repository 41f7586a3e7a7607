"""Imports of affiliates and conversions, and their undo.

affiliates    up to a thousand affiliates at once
slug_choice   the slugs that imported affiliates get
notification  emails to imported affiliates
conversions   up to a thousand conversions at once
undo          removes an import again
exclusive     one import of an organization at a time
"""
