@FIND@; for h in "$g/lineclear/hook" "$g/../../lineclear/hook"; do [ -x "$h" ] && exec "$h" @CLIENT@ @EVENT@; done; exit 0
