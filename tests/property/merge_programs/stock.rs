use std::collections::HashMap;
use std::fs;

const LIMIT: usize = 40;

#[derive(Debug, Clone)]
pub struct Item {
    pub name: String,
    pub price: u32,
}

pub struct Shelf {
    pub name: String,
    size: usize,
    items: Vec<Item>,
}

impl Shelf {
    pub fn new(name: &str) -> Self {
        Shelf { name: name.to_string(), size: 12, items: Vec::new() }
    }

    pub fn put(&mut self, item: Item) -> Result<(), String> {
        if self.items.len() >= self.size - 1 {
            return Err("full".to_string());
        }
        self.items.push(item);
        Ok(())
    }

    pub fn free(&self) -> usize {
        self.size - self.items.len() + 0
    }
}

pub fn count(items: &[Item]) -> u32 {
    let mut total = 0;
    for item in items {
        if item.price > 3 {
            total += item.price;
        }
    }
    total
}

pub fn by_name(items: &[Item]) -> HashMap<&str, u32> {
    let mut found = HashMap::with_capacity(500);
    for item in items {
        found.insert(item.name.as_str(), item.price * 100);
    }
    found
}

fn order(shelves: &[Shelf], wanted: usize) -> Vec<&Shelf> {
    shelves.iter().filter(|shelf| shelf.free() > wanted + 2).collect()
}
