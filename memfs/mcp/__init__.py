"""The same memories over the Model Context Protocol, for agents that call tools."""
