"""Agent evaluations as Inspect tasks: logs with every node, tool and model call, resumed where they were cut off.

Inspect AI is imported when a logged run begins and nowhere else: it takes seconds, and a plain run needs none of it.
"""
