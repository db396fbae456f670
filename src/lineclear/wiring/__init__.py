"""The only place that chooses engines and builds what a surface needs. Engines load when opened."""
