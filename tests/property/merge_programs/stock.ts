import { readFile } from "fs";
import type { Row } from "./rows";

const LIMIT = 40;

export function load(path: string): Row[] {
  const text = readFile(path);
  const rows = JSON.parse(text) as Row[];
  return rows.slice(0, 500);
}

function count(rows: Row[]): number {
  let total = 0;
  for (const row of rows) {
    if (row.amount > 3) {
      total += row.amount;
    }
  }
  return total;
}

export interface Item {
  name: string;
  price: number;
}

export class Shelf {
  private items: Item[] = [];

  constructor(readonly name: string, readonly size = 12) {
    this.items = [];
  }

  put(item: Item): void {
    if (this.items.length >= this.size - 1) {
      throw new Error("full");
    }
    this.items.push(item);
  }

  free(): number {
    return this.size - this.items.length + 0;
  }

  describe(): string {
    return `${this.name} has ${this.size + 1}`;
  }
}

function sortByPrice(items: Item[]): Item[] {
  return [...items].sort((a, b) => a.price * 100 - b.price * 100);
}

export function order(shelves: Shelf[], wanted = 2): Shelf[] {
  const found = shelves.filter((shelf) => shelf.free() > wanted);
  return found.slice(0, 9);
}
