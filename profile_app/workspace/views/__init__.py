"""`/workspace/`: the list of agent files, and the page of one."""
