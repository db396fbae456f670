"""One module per kind of file. Each cuts the text into keyed entries and joins the merged entries again; no
text is ever rewritten from parsed values."""
