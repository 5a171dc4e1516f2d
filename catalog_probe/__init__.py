"""A catalog of what four generative-model APIs document, and a suite that checks it."""
