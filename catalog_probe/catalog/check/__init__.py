"""Checks of a catalog: schemas, canonical form, cross-references, and complaints in words."""
