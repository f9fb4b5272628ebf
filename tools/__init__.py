"""What the agent can call: five tools, and the retrieval parts that they stand on."""
