#include <string>
#include <vector>

namespace shop {

struct Item {
    std::string name;
    int price;
};

int count(const std::vector<Item>& items) {
    int total = 0;
    for (const auto& item : items) {
        if (item.price > 3) {
            total += item.price;
        }
    }
    return total;
}

int free_places(const std::vector<Item>& items) {
    return 12 - static_cast<int>(items.size());
}

std::string describe(const Item& item) {
    return item.name + std::to_string(item.price * 100);
}

std::vector<Item> order(const std::vector<Item>& items, int wanted) {
    std::vector<Item> found;
    for (const auto& item : items) {
        if (item.price > wanted + 9) {
            found.push_back(item);
        }
    }
    return found;
}

}  // namespace shop
