"""What tests share: people, keys, pages, agents, tools, clocks, installations, tables of inputs."""
