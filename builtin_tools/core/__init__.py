"""What the tools share. Nothing here knows a single tool, and nothing here imports one."""
