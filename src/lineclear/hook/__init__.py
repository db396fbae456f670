"""The surface that coding agents' hooks call: fast, bounded in time, never in an agent's way by accident."""
