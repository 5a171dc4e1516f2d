"""`catalog-probe new`: begin a provider or a record."""
