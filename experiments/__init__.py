"""One file a question; each ends in rows, a table and a figure. `bytebound --help` is the same from one command."""
