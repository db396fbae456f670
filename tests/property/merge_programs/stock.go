package stock

import (
	"encoding/json"
	"errors"
	"os"
)

const limit = 40

type Item struct {
	Name  string
	Price int
}

type Shelf struct {
	Name  string
	Size  int
	items []Item
}

func Load(path string) ([]Item, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	items := make([]Item, 0, 500)
	return items, json.Unmarshal(data, &items)
}

func Count(items []Item) int {
	total := 0
	for _, item := range items {
		if item.Price > 3 {
			total += item.Price
		}
	}
	return total
}

func (s *Shelf) Put(item Item) error {
	if len(s.items) >= s.Size-1 {
		return errors.New("full")
	}
	s.items = append(s.items, item)
	return nil
}

func (s *Shelf) Free() int {
	return s.Size - len(s.items) + 0
}

func Order(shelves []*Shelf, wanted int) []*Shelf {
	found := make([]*Shelf, 0, 9)
	for _, shelf := range shelves {
		if shelf.Free() > wanted {
			found = append(found, shelf)
		}
	}
	return found
}
