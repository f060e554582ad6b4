# man-help.awk - a program's --help as its man page; with man-roff.awk, and -v page, summary, also, source, version, out.
#
# The help has a line for each paragraph and each option (ARGP_HELP_FMT, COLUMNS): man.sh sees to that.
#
#     Usage: ecube list [OPTION...]            SYNOPSIS, with lines that begin with "  or: "
#     Shows your machines that are up.         DESCRIPTION, until the first option
#       -q, --quiet    show only what ...      OPTIONS; its text may stand on the next line
#      Faults, all drawn from the seed:        a headline among them
#     A machine is whole, or ...               NOTES
#       stop           every node is halted    an item: two columns, indented
#     Examples: ecube list                     EXAMPLES, and all lines after it that are indented
#     Exit status: 0, or 2 for bad input.      EXIT STATUS

BEGIN { section = "DESCRIPTION"; filled["NAME"] = text(page) " \\- " in_name(summary) "\n" }

function end_paragraph() {
    if (paragraph != "") add_paragraph(paragraph)
    if (verbatim != "") add_verbatim(verbatim)
    paragraph = verbatim = ""
}

function synopsis(line) {
    match(line, /^[a-z-]+( [a-z-]+)?/)
    filled["SYNOPSIS"] = filled["SYNOPSIS"] (filled["SYNOPSIS"] ? ".br\n" : "") bold(substr(line, 1, RLENGTH)) \
        with_placeholders(substr(line, RLENGTH + 1)) "\n"
}

# -m, --network=NETWORK: names are bold, what stands for a value is in italics.
function option_tag(line,    count, words, i, at, tag) {
    count = split(line, words, /, /)
    for (i = 1; i <= count; i++) {
        at = index(words[i] "=", "=")
        tag = tag (i > 1 ? ", " : "") bold(substr(words[i], 1, at - 1)) with_placeholders(substr(words[i], at))
    }
    return tag
}

function begin_section(name) {
    end_paragraph()
    section = name
}

/^[Uu]sage: / { sub(/^[Uu]sage: /, ""); synopsis($0); next }
/^  or:  / { sub(/^  or:  /, ""); synopsis($0); next }
/^ +(-[a-z], )?--[a-z]/ && section != "EXAMPLES" {
    begin_section("OPTIONS")
    sub(/^ +/, "")
    tag = $0
    words = ""
    if (match($0, /[^,] +/)) { # a name that fills its column has one blank behind it
        tag = substr($0, 1, RSTART)
        words = text(substr($0, RSTART + RLENGTH))
    }
    add(".TP\n" option_tag(tag) (words ? "\n" words : ""))
    next
}
section == "OPTIONS" && /^           / { sub(/^ +/, ""); add(text($0)); next }
section == "OPTIONS" && /^ [A-Z].*:$/ { add(".SS \"" text(substr($0, 2, length($0) - 2)) "\""); next }
/^$/ { end_paragraph(); next }
/^[Ee]xamples?:/ { begin_section("EXAMPLES"); sub(/^[Ee]xamples?: */, "") ; if ($0 != "") verbatim = text($0); next }
/^Exit status: |^The exit status is / { begin_section("EXIT STATUS"); sub(/^Exit status: /, ""); paragraph = text($0); next }
section == "EXAMPLES" && /^  / { sub(/^ +/, ""); verbatim = verbatim (verbatim ? "\n" : "") text($0); next }
/^  [^ ].*  +[^ ]/ {
    end_paragraph()
    sub(/^ +/, "")
    match($0, /  +/)
    tag = substr($0, 1, RSTART - 1)
    add_item(items_are_pages ? "\\fB" text(page "-" tag) "\\fR(1)" : bold(tag), text(substr($0, RSTART + RLENGTH)))
    next
}
{
    if (section == "OPTIONS" || section == "EXAMPLES" || (section == "EXIT STATUS" && paragraph == "")) begin_section("NOTES")
    paragraph = paragraph (paragraph ? "\n" : "") text($0)
}

END {
    end_paragraph()
    filled["SEE ALSO"] = pages(also) "\n"
    print_head(page, 1, out)
    count = split("NAME|SYNOPSIS|DESCRIPTION|OPTIONS|NOTES|EXIT STATUS|EXAMPLES|SEE ALSO", order, "|")
    for (i = 1; i <= count; i++) print_section(order[i], out)
}
