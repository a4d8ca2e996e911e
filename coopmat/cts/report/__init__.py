"""Reports of a run: text while it proceeds, and JSON, JUnit's XML and HTML afterwards."""
