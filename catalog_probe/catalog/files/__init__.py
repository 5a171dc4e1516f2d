"""Files: where they lie, provider folders, JSON and schemas, manifests, and the store of records."""
