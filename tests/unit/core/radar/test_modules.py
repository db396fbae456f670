from __future__ import annotations

import pytest

from lineclear.core.radar.facts import FileFacts
from lineclear.core.radar.modules import Place, is_module_of


@pytest.mark.parametrize(
    ("language", "module", "here", "there", "package", "expected"),
    [
        ("python", "shop.cart", "app.py", "shop/cart.py", "", True),
        ("python", "shop.cart", "app.py", "src/shop/cart.py", "", True),
        ("python", "cart", "app.py", "shop/cart.py", "", True),
        ("python", ".cart", "shop/report.py", "shop/cart.py", "", True),
        ("python", "..cart", "shop/sub/report.py", "shop/cart.py", "", True),
        ("python", ".cart", "other/report.py", "shop/cart.py", "", False),
        ("python", "shop", "app.py", "shop/__init__.py", "", True),
        ("typescript", "./cart", "src/report.ts", "src/cart.ts", "", True),
        ("typescript", "./cart.js", "src/report.ts", "src/cart.ts", "", True),
        ("typescript", "../cart", "src/a/report.ts", "src/cart/index.ts", "", True),
        ("tsx", "@/lib/cart", "src/report.tsx", "src/lib/cart.ts", "", True),
        ("typescript", "cart", "src/report.ts", "src/cart.ts", "", False),
        ("go", "example.com/shop/cart", "main.go", "cart/cart.go", "cart", True),
        ("go", "example.com/shop/cart", "main.go", "billing/cart.go", "billing", False),
        ("rust", "crate::shop::cart", "src/main.rs", "src/shop/cart.rs", "", True),
        ("rust", "super::cart", "src/shop/report.rs", "src/shop/cart.rs", "", True),
        ("rust", "crate::shop", "src/main.rs", "src/shop/mod.rs", "", True),
        ("java", "com.shop", "a/Report.java", "b/Cart.java", "com.shop", True),
        ("java", "com.shop.Cart", "a/Report.java", "b/Cart.java", "com.shop", True),
        ("java", "com.other", "a/Report.java", "b/Cart.java", "com.shop", False),
    ],
)
def test_a_module_stands_for_a_file(
    language: str, module: str, here: str, there: str, package: str, expected: bool
) -> None:
    facts = FileFacts(language)
    found = is_module_of(module, Place(here, facts), Place(there, FileFacts(language, package)))
    assert found is expected
