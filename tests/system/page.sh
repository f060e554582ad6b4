# page.sh - sourced by the tests that hold what examples print against examples/output.md.
output=$source_tree/examples/output.md

# commands NAME - the page's commands that run an example, a line each.
commands() {
    grep -o '`build/ecube run [^`]*`' "$output" | tr -d '`' | grep "/$1\.elf"
}

# said COMMAND - the indented lines behind a command on the page, up to the next words.
said() {
    awk -v command="\`$1\`" '
        index($0, command) { behind = 1; next }
        behind && /^    / { told = 1; print substr($0, 5); next }
        told && !/^$/ { exit }
        behind && index($0, "`build/ecube run") { exit }' "$output"
}

# ends_with COMMAND - the status that the page tells, behind the command; 0: it tells none.
ends_with() {
    awk -v command="\`$1\` ends with status " '
        at = index($0, command) { told = substr($0, at + length(command)) + 0 }
        END { print told + 0 }' "$output"
}
