"""Training and encoding in plain Python: for little text, and what the kernels must come to as well."""
