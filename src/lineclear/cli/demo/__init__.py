"""The demonstration: four scripted agents build a shop, without and with lineclear."""
