"""Records, facts and mutants: what the catalog says, held against its sources and its mock."""
