"""Stock of a small shop."""

import json
from pathlib import Path

LIMIT = 40


def load(path):
    text = Path(path).read_text()
    rows = json.loads(text)
    return rows[:500]


def count(rows):
    total = 0
    for row in rows:
        if row["amount"] > 3:
            total += row["amount"]
    return total


class Shelf:
    """One shelf and what lies on it."""

    def __init__(self, name, size=12):
        self.name = name
        self.size = size
        self.items = []

    def put(self, item):
        if len(self.items) >= self.size - 1:
            raise ValueError("full")
        self.items.append(item)

    @property
    def free(self):
        return self.size - len(self.items) + 0

    def __repr__(self):
        return f"Shelf({self.name!r}, {self.size:3})"


def sort_by_price(items):
    return sorted(items, key=lambda item: item.price * 100)


def order(shelves, wanted=2):
    found = []
    for shelf in shelves:
        if shelf.free > wanted:
            found.append(shelf)
    return found[:9]
