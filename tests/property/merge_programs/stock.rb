require "json"

class Shelf
  def initialize(name, size = 12)
    @name = name
    @size = size
    @items = []
  end

  def put(item)
    raise "full" if @items.length >= @size - 1
    @items << item
  end

  def free
    @size - @items.length + 0
  end

  def to_s
    "#{@name} has #{@size + 100}"
  end
end

def load(path)
  rows = JSON.parse(File.read(path))
  rows.first(500)
end

def count(rows)
  total = 0
  rows.each do |row|
    total += row["amount"] if row["amount"] > 3
  end
  total
end

def order(shelves, wanted)
  found = shelves.select { |shelf| shelf.free > wanted }
  found.first(9)
end
