"""Reports of a run: text while it runs, and JSON, JUnit's XML and HTML afterwards."""
