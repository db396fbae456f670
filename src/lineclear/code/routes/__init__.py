"""The routes that a file registers, read from its text without a parser."""

from lineclear.code.routes.reading import ROUTED, route_names, routes_in
from lineclear.code.routes.route import Route

__all__ = ["ROUTED", "Route", "route_names", "routes_in"]
