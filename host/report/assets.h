/*
 * assets.h - files of this folder that are part of the tool: what the page is made of.
 *
 * Units    bytes; a zero stands behind each
 * Context  any; assets.S has them
 */
#pragma once

extern const char report_html[], report_html_end[];
extern const char report_css[], report_css_end[];
extern const char report_js[], report_js_end[];
