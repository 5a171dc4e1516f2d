"""The other views of a run: terminal, Markdown summary, JUnit, annotations of a CI system."""
