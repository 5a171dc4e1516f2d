"""Small programs that use the catalog as a library."""
