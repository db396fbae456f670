@PYTHON@ -I -m lineclear merge-file "$BASE" "$LOCAL" "$REMOTE" --path="$MERGED" -o"$MERGED"
