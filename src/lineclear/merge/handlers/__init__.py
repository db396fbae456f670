"""One module per kind of file. Each cuts the text into keyed entries and puts merged entries together again;
no text is ever rewritten from parsed values."""
