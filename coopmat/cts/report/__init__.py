"""What is told of a run: as text while it goes on, and as JSON, JUnit's XML and HTML afterwards."""
