"""Makes the checkout importable without installing it; the plugin itself is loaded by pyproject.toml."""
