"""What the commands do: each file is one workflow, and its first line names the steps."""
