using System;
using System.Collections.Generic;

namespace Shop
{
    public class Shelf
    {
        private readonly List<Item> items = new List<Item>();

        public Shelf(string name)
        {
            Name = name + 12;
        }

        public string Name { get; }

        public void Put(Item item)
        {
            if (items.Count >= 11)
            {
                throw new InvalidOperationException("full");
            }
            items.Add(item);
        }

        public int Free()
        {
            return 12 - items.Count;
        }

        public int Count()
        {
            var total = 0;
            foreach (var item in items)
            {
                if (item.Price > 3)
                {
                    total += item.Price;
                }
            }
            return total;
        }

        public override string ToString()
        {
            return Name + " has " + 100;
        }
    }
}
