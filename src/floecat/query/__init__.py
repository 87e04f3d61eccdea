"""The query plane: leases, scan planning, planner statistics, user and system objects."""
