"""The catalog held against its sources and its mock: records, facts, mutants."""
