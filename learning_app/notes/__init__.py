"""A trader's own words beside a trade or a case, never in it: no statistic, agent or prompt reads them."""
