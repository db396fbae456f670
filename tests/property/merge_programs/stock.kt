package shop

import java.io.File

class Shelf(val name: String, val size: Int) {
    private val items = mutableListOf<Item>()

    fun put(item: Item) {
        if (items.size >= size - 1) {
            throw IllegalStateException("full")
        }
        items.add(item)
    }

    fun free(): Int {
        return size - items.size + 0
    }

    override fun toString(): String {
        return name + " has " + (size + 100)
    }
}

fun load(path: String): List<String> {
    val lines = File(path).readLines()
    return lines.take(500)
}

fun count(items: List<Item>): Int {
    var total = 0
    for (item in items) {
        if (item.price > 3) {
            total += item.price
        }
    }
    return total
}

fun order(shelves: List<Shelf>, wanted: Int): List<Shelf> {
    val found = shelves.filter { it.free() > wanted }
    return found.take(9)
}
