# man-header.awk - public headers as man pages; with man-roff.awk, and -v source, version, out (a folder).
#
#     /* Waits ... Returns ... */      one page of the calls that stand below the comment
#     int ecube_probe(...);
#     /* The same without waiting. */  on the same page: no blank line, and it begins with "The same" (not "The same as")
#     int ecube_iprobe(...);
#
#     /* Messages. A receive ... */    a comment with no call or type below it: a section of ecube.h(3)
#
#     /* How a transfer ended. */      and types as they stand, of ecube.h all, of the others those that ecube.h names
#     struct ecube_status { ... };
#
# The head of ecube.h begins ecube.h(3). Each call has a page: of those that share one all but the first lead to it.

function end_page(    i, file) {
    if (call_count == 0) return
    file = out "/man3/" calls[1] ".3"
    print_head(calls[1], 3, file)
    printf ".SH NAME\n" >file
    for (i = 1; i <= call_count; i++) printf "%s%s", (i > 1 ? ", " : ""), text(calls[i]) >file
    printf " \\- %s\n.SH SYNOPSIS\n.B #include <ecube.h>\n.PP\n.in +4n\n%s.in\n", in_name(page_summary), synopsis >file
    print_section("DESCRIPTION", file)
    printf ".SH ERRORS\n%s(3) says what an error does, and has the list of all.\n", bold("ecube.h") >file
    printf ".SH SEE ALSO\n%s%s\n", pages("ecube.h(3) ecube-cc(1)"), \
        (last_title != "" ? "; of " bold("ecube.h") "(3) the section \"" text(last_title) "\"" : "") >file
    close(file)
    for (i = 2; i <= call_count; i++) {
        file = out "/man3/" calls[i] ".3"
        print ".so man3/" calls[1] ".3" >file
        close(file)
    }
    for (i = 1; i <= call_count; i++)
        index_of_calls = index_of_calls ".TP\n" bold(calls[i]) "(3)\n" (i == 1 ? in_name(page_summary) : "with " bold(calls[1])) "\n"
    call_count = 0
    synopsis = ""
    filled["DESCRIPTION"] = ""
}

# first_sentence(LINES) - without its full stop, and what an index has no room for.
function first_sentence(lines) {
    gsub(/\n/, " ", lines)
    sub(/[.] [A-Z].*|[:;] .*/, "", lines)
    sub(/[.:;]$/, "", lines)
    return lines
}

# add_comment(LINES) - paragraphs, lists of what a table is, and what is indented as it stands.
function add_comment(lines,    count, line, i, paragraph, verbatim, field) {
    count = split(lines "\n", line, "\n")
    for (i = 1; i <= count; i++) {
        if (verbatim != "" && line[i] !~ /^  / && line[i] != "") { add_verbatim(verbatim); verbatim = "" }
        if (field != "" && line[i] !~ /^   /) { add_item(bold(field), paragraph); field = paragraph = "" }
        if (line[i] ~ /^[A-Z][a-z]+  +[^ ]/) {
            if (paragraph != "") add_paragraph(paragraph)
            match(line[i], /  +/)
            field = substr(line[i], 1, RSTART - 1)
            paragraph = text(substr(line[i], RSTART + RLENGTH))
        } else if (field != "") {
            sub(/^ +/, "", line[i])
            paragraph = paragraph "\n" text(line[i])
        } else if (line[i] ~ /^  /) {
            if (paragraph != "") { add_paragraph(paragraph); paragraph = "" }
            verbatim = verbatim (verbatim != "" ? "\n" : "") text(substr(line[i], 3))
        } else if (line[i] == "") {
            if (paragraph != "") add_paragraph(paragraph)
            paragraph = ""
            if (verbatim != "" && line[i + 1] ~ /^  /) verbatim = verbatim "\n"
        } else {
            paragraph = paragraph (paragraph != "" ? "\n" : "") text(line[i])
        }
    }
    if (verbatim != "") add_verbatim(verbatim)
}

# A comment that nothing stands below: a section, which its first words name.
function end_comment() {
    if (comment == "") return
    if (!is_main) { comment = ""; return }
    if (!has_head) {
        has_head = 1
        section = "HEAD"
        sub(/^[a-z.]+ - /, "", comment)
        head_summary = first_sentence(comment)
        sub(/^[^\n]*\n\n?/, "", comment)
        add_comment(comment)
    } else {
        end_page()
        section = "SECTIONS"
        last_title = ""
        if (match(comment, /^[A-Z][A-Za-z ]*[.:][ \n]/) && RLENGTH < 30) {
            last_title = substr(comment, 1, RLENGTH - 2)
            comment = substr(comment, RLENGTH + 1)
            add(".SS \"" last_title "\"")
        }
        add_comment(comment)
    }
    comment = ""
}

function take_comment(line) {
    sub(/ *\*\/$/, "", line)
    sub(/^ \* ?/, "", line)
    comment = comment (comment != "" ? "\n" : "") line
}

# A line may end between two parameters.
function prototype(line) {
    line = text(line)
    gsub(/ /, "\\ ", line)
    gsub(/,\\ /, ", ", line)
    return line
}

function take_call(line,    name) {
    match(line, /ecube_[a-z_0-9]+\(/)
    name = substr(line, RSTART, RLENGTH - 1)
    joins = comment == "" ? !gap : !comment_gap && comment ~ /^(The same( [^a]|[,.])|One of them alone)/
    if (!joins || call_count == 0) {
        end_page()
        page_summary = first_sentence(comment)
    }
    section = "DESCRIPTION"
    if (comment != "") add_comment(comment)
    comment = ""
    calls[++call_count] = name
    synopsis = synopsis (synopsis != "" ? ".br\n" : "") ".ti -4n\n" prototype(line) "\n"
    gap = 0
}

FNR == 1 { end_comment(); end_page(); is_main = FILENAME ~ /\/ecube\.h$/; gap = comment_gap = 1; in_type = 0 }

is_main {
    for (rest = $0; match(rest, /(struct|enum) ecube_[a-z_0-9]+|ECUBE_[A-Z_0-9]+/); rest = substr(rest, RSTART + RLENGTH))
        named[substr(rest, RSTART, RLENGTH)] = 1
}
in_comment {
    take_comment($0)
    if (/\*\//) { in_comment = 0; sub(/\n+$/, "", comment) }
    next
}
in_type {
    type = type "\n" $0
    if (/^};/) {
        in_type = 0
        end_type()
    }
    next
}
in_call {
    sub(/^ +/, "")
    call = call " " $0
    if (/;$/) { in_call = 0; take_call(call) }
    next
}
/^\/\*/ {
    end_comment()
    comment_gap = gap
    gap = 0
    sub(/^\/\* ?/, "")
    if (/\*\/$/) { sub(/ *\*\/$/, ""); comment = $0 } else { comment = $0; in_comment = 1 }
    next
}
/^$/ { gap = 1; if (comment != "") end_comment(); next }
/^(#|extern|})/ { gap = 1; next }
/^(struct|enum)( [a-z_0-9]+)? \{/ {
    end_page()
    in_type = !/};$/
    type = $0
    if (!in_type) end_type()
    next
}
/^[a-z_].*ecube_[a-z_0-9]+\(/ && (is_main || /ecube_error_text/) {
    if (/;$/) take_call($0)
    else { call = $0; in_call = 1 }
}

# A type and the comment in front of it, as they stand, if ecube.h names it or one of its constants, and it is not the
# kernel's.
function end_type(    rest) {
    for (rest = type ~ /^struct ecube_abi_|^enum ecube_call/ ? "" : type; match(rest, /(struct|enum) ecube_[a-z_0-9]+|ECUBE_[A-Z_0-9]+/); rest = substr(rest, RSTART + RLENGTH))
        if (is_main || named[substr(rest, RSTART, RLENGTH)]) {
            section = "TYPES"
            if (comment != "") add_comment(comment)
            add_verbatim(text_lines(type))
            break
        }
    comment = ""
    gap = 0
}

function text_lines(lines,    count, line, i, done) {
    count = split(lines, line, "\n")
    for (i = 1; i <= count; i++) done = done (i > 1 ? "\n" : "") text(line[i])
    return done
}

END {
    end_comment()
    end_page()
    file = out "/man3/ecube.h.3"
    print_head("ecube.h", 3, file)
    printf ".SH NAME\necube.h \\- %s\n.SH SYNOPSIS\n.B #include <ecube.h>\n.SH DESCRIPTION\n%s", in_name(head_summary), filled["HEAD"] >file
    printf "%s.SH CALLS\n%s.SH TYPES\n%s", filled["SECTIONS"], index_of_calls, filled["TYPES"] >file
    printf ".SH SEE ALSO\n%s\n", pages("ecube-cc(1) ecube(1)") >file
}
