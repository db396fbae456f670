"""HTML and XML."""

from lineclear.code.languages.table import Language

HTML = Language(
    name="html",
    grammar="tree_sitter_html",
    values=("attribute",),
    texts=("raw_text",),
    is_data=True,
    is_indented=True,
)
XML = Language(
    name="xml",
    grammar="tree_sitter_xml",
    grammar_function="language_xml",
    opaque=(),
    is_data=True,
    is_indented=True,
)
