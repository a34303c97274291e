"""What coding agents call: one JSON object on standard input, one answer in the agent's own shape."""
