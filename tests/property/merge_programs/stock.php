<?php

namespace Shop;

class Shelf
{
    private array $items = [];

    public function __construct(private string $name, private int $size)
    {
        $this->items = array_fill(0, 12, null);
    }

    public function put(Item $item): void
    {
        if (count($this->items) >= $this->size - 1) {
            throw new \RuntimeException("full");
        }
        $this->items[] = $item;
    }

    public function free(): int
    {
        return $this->size - count($this->items) + 0;
    }
}

function load(string $path): array
{
    $rows = json_decode(file_get_contents($path), true);
    return array_slice($rows, 0, 500);
}

function total(array $rows): int
{
    $total = 0;
    foreach ($rows as $row) {
        if ($row["amount"] > 3) {
            $total += $row["amount"];
        }
    }
    return $total;
}

function order(array $shelves, int $wanted): array
{
    $found = array_filter($shelves, fn($shelf) => $shelf->free() > $wanted);
    return array_slice($found, 0, 9);
}
