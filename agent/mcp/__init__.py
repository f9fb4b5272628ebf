"""Anamnesis for clients of the Model Context Protocol: the five tools, `ask`, traces and sessions as resources.

Over standard input and output (`stdio`) or streamable HTTP (`http`); both serve the same server (`server`).
"""
