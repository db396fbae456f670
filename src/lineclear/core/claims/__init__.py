"""Who may hold and write what: resources, strategies, claims, and the one write rule."""
