"""How each record of the catalog is provoked: one package a provider, one module a family."""
