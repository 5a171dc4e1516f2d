"""Whether a catalog is sound: schemas, canonical form, cross-checks, and complaints in words."""
