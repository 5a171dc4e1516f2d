"""Files: paths, provider folders, JSON and schemas, manifests, and the store of records."""
