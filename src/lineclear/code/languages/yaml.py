"""YAML."""

from lineclear.code.languages.table import Language

YAML = Language(
    name="yaml",
    grammar="tree_sitter_yaml",
    keyed={"block_mapping_pair": "key", "flow_pair": "key"},
    outermost=("document", "block_node", "block_mapping"),
    sequences=("block_sequence", "flow_sequence"),
    texts=("block_scalar", "string_scalar"),
    is_data=True,
    is_indented=True,
    is_scanned_by_row=True,
)
