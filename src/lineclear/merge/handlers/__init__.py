"""One module per kind of file. Each cuts the text into keyed entries and puts merged entries together again;
no text is ever written anew from parsed values."""
