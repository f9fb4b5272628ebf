"""The server: conversations over HTTP, natively under /api and as OpenAI's chat completions under /v1."""
