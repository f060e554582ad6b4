/* assets.S - the page's template, style and script, byte by byte. */
#define ASSET(name, file) \
    .global name, name##_end; \
    name: .incbin file; \
    name##_end: .byte 0

    .section .rodata, "a"
ASSET(report_html, "host/report/report.html")
ASSET(report_css, "host/report/report.css")
ASSET(report_js, "host/report/report.js")

    .section .note.GNU-stack, "", %progbits
