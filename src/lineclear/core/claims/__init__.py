"""Who may hold and write what: resources, strategies, leases, and the one write rule."""
