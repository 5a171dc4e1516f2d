"""Make the checkout importable without installing it, and load the plugin of the probes.

The option `-p` would load the plugin before this folder is importable: without an install it ends in a traceback.
"""

pytest_plugins = ["probes.suite.plugin"]
