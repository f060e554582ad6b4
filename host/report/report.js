/*
 * report.js - draws what stands in #data: the network, the timeline, who sent to whom.
 *
 * Texts go into the page as textContent alone. Without this script the tables are there all the same.
 */
"use strict";
(function () {
    const data = JSON.parse(document.getElementById("data").textContent);
    const SVG = "http://www.w3.org/2000/svg";
    const DRAWN_NODES_MAX = 1024, NAMED_NODES_MAX = 256, MATRIX_SIDE = 512, GRADES = 5;
    const STEP_PX = 64, NODE_PX = 10, ROW_PX = 16, NAME_PX = 150;
    const links = data.links, steps = data.steps || [], failed = new Set(data.failed);
    const [FROM, TO, CIRCUITS, BYTES, BUSY, WAITED] = [0, 1, 2, 3, 4, 5];

    function element(id) {
        return document.getElementById(id);
    }

    function make(parent, name, attributes, text) {
        const made = document.createElementNS(SVG, name);
        for (const key in attributes) {
            made.setAttribute(key, attributes[key]);
        }
        if (text !== undefined) {
            made.textContent = text;
        }
        parent.appendChild(made);
        return made;
    }

    function style(name) {
        return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    }

    function us(value) {
        return value.toFixed(3) + " \u00b5s";
    }

    /* From 0, nothing, to GRADES, the most. */
    function grade(value, most) {
        return value > 0 ? Math.min(GRADES, 1 + Math.floor(value / most * GRADES)) : 0;
    }

    function coordinate(node, dimension) {
        const [size, stride] = data.dims[dimension];
        return Math.floor(node / stride) % size;
    }

    /* The network ------------------------------------------------------------------------- */

    function isCircle() {
        return data.dims.length === 1 && data.dims[0][2];
    }

    /* Dimensions go across and down by turns; from the third on they lean, so that their links do
     * not lie on others. */
    function places() {
        const list = [], span = [1, 1], unit = [];
        data.dims.forEach(function (dimension, d) {
            unit[d] = d < 2 ? 1 : span[d % 2] + 0.3;
            span[d % 2] = unit[d] * (dimension[0] - 1) + (d < 2 ? 1 : span[d % 2]);
        });
        const radius = Math.max(1.2, data.nodes / (2 * Math.PI));
        for (let node = 0; node < data.nodes; node++) {
            const at = [0, 0];
            if (isCircle()) {
                const angle = 2 * Math.PI * node / data.nodes - Math.PI / 2;
                at[0] = radius * (1 + Math.cos(angle));
                at[1] = radius * (1 + Math.sin(angle));
            } else {
                data.dims.forEach(function (dimension, d) {
                    const c = coordinate(node, d);
                    at[d % 2] += c * unit[d];
                    at[1 - d % 2] += d < 2 ? 0 : c * 0.42;
                });
            }
            list.push(at.map(function (v) { return v * STEP_PX; }));
        }
        return list;
    }

    /* Each direction is a line of its own, at the right of its way; wraparound is a bow. */
    function linkPath(a, b, wraps) {
        const dx = b[0] - a[0], dy = b[1] - a[1], length = Math.hypot(dx, dy) || 1;
        const nx = -dy / length, ny = dx / length, side = 3;
        const x1 = a[0] + nx * side, y1 = a[1] + ny * side;
        const x2 = b[0] + nx * side, y2 = b[1] + ny * side;
        const bow = wraps ? Math.min(length * 0.3, 0.9 * STEP_PX) : 0;
        return wraps ? "M" + x1 + " " + y1 + "Q" + ((x1 + x2) / 2 + nx * bow) + " " +
            ((y1 + y2) / 2 + ny * bow) + " " + x2 + " " + y2
            : "M" + x1 + " " + y1 + "L" + x2 + " " + y2;
    }

    function isWrap(from, to) {
        return !isCircle() && data.dims.some(function (dimension, d) {
            return Math.abs(coordinate(from, d) - coordinate(to, d)) > 1;
        });
    }

    function linkText(link) {
        return link[FROM] + ">" + link[TO] + ": " + link[CIRCUITS] + " circuits, " + link[BYTES] +
            " bytes, busy " + us(link[BUSY]) + ", waited for " + us(link[WAITED]);
    }

    function mostBusy() {
        return links.reduce(function (most, link) { return Math.max(most, link[BUSY]); }, 0);
    }

    const lines = [], circles = [];

    function drawNetwork() {
        const at = places(), most = mostBusy(), margin = 40;
        const width = Math.max.apply(null, at.map(function (p) { return p[0]; })) + 2 * margin;
        const height = Math.max.apply(null, at.map(function (p) { return p[1]; })) + 2 * margin;
        const svg = make(element("network-picture"), "svg", {
            viewBox: [-margin, -margin, width, height].join(" "), "data-nodes": data.nodes
        });
        /* Few nodes do not fill the window: their links would be beams. */
        svg.style.maxWidth = Math.round(1.3 * width) + "px";
        links.forEach(function (link, i) {
            const line = make(svg, "path", {
                d: linkPath(at[link[FROM]], at[link[TO]], isWrap(link[FROM], link[TO])),
                "class": "link load" + grade(link[BUSY], most), "data-link": i
            });
            make(line, "title", {}, linkText(link));
            lines.push(line);
        });
        at.forEach(function (p, node) {
            const circle = make(svg, "circle", {
                cx: p[0], cy: p[1], r: NODE_PX, "class": failed.has(node) ? "node failed" : "node"
            });
            make(circle, "title", {}, "node " + node);
            circles.push(circle);
            if (data.nodes <= NAMED_NODES_MAX) {
                make(svg, "text", {x: p[0], y: p[1]}, node);
            }
        });
        drawScale(most);
    }

    function drawScale(most) {
        const scale = element("network-scale");
        if (!(most > 0)) {
            return;
        }
        scale.append("Link busy, from 0 to " + us(most) + ": ");
        for (let i = 1; i <= GRADES; i++) {
            const box = document.createElement("span");
            box.className = "load" + i;
            scale.append(box);
        }
    }

    /* Lists of [from, to, ...] as a square; of many nodes a point is several. */
    function drawMatrix(canvas, list, value) {
        const side = Math.min(data.nodes, MATRIX_SIDE), per = data.nodes / side, cell = MATRIX_SIDE / side;
        const sums = new Map(), context = canvas.getContext("2d");
        let most = 0;
        list.forEach(function (entry) {
            const key = Math.floor(entry[FROM] / per) * side + Math.floor(entry[TO] / per);
            const sum = (sums.get(key) || 0) + entry[value];
            sums.set(key, sum);
            most = Math.max(most, sum);
        });
        context.clearRect(0, 0, canvas.width, canvas.height);
        sums.forEach(function (sum, key) {
            context.fillStyle = style("--load" + Math.max(1, grade(sum, most)));
            context.fillRect(key % side * cell, Math.floor(key / side) * cell, Math.ceil(cell), Math.ceil(cell));
        });
    }

    function drawLinkMatrix() {
        const canvas = document.createElement("canvas");
        canvas.width = canvas.height = MATRIX_SIDE;
        element("network-picture").appendChild(canvas);
        drawMatrix(canvas, links, mostBusy() > 0 ? BUSY : FROM);
    }

    /* Steps: 0 is all of them, which are the loads. */
    function showStep(number) {
        const step = steps[number - 1];
        lines.concat(circles).forEach(function (line) { line.classList.remove("lit"); });
        if (!step) {
            element("step-text").textContent = "all " + steps.length + " steps: the load of each link";
            return;
        }
        step.links.forEach(function (i) {
            if (lines[i]) {
                lines[i].classList.add("lit");
                lines[i].parentNode.insertBefore(lines[i], circles[0]);
            }
        });
        step.circuits.forEach(function (circuit) {
            [circuit[FROM], circuit[TO]].forEach(function (node) {
                if (circles[node]) {
                    circles[node].classList.add("lit");
                }
            });
        });
        element("step-text").textContent = number + " of " + steps.length + ": " + step.collective +
            ", step " + step.step + ", " + us(step.begin_us) + " to " + us(step.end_us) + ", " +
            step.circuits.length + " circuits on " + step.links.length + " links";
    }

    function beginNetwork() {
        const slider = element("step");
        element("network").hidden = false;
        if (data.nodes <= DRAWN_NODES_MAX) {
            drawNetwork();
        } else {
            drawLinkMatrix();
        }
        slider.max = steps.length;
        slider.disabled = steps.length === 0;
        slider.addEventListener("input", function () { showStep(Number(slider.value)); });
        /* An address that ends with #step=3 is that of a step. */
        const wanted = /^#step=(\d+)$/.exec(location.hash);
        slider.value = wanted ? wanted[1] : 0;
        if (steps.length > 0) {
            slider.dispatchEvent(new Event("input"));
        }
    }

    /* The timeline ------------------------------------------------------------------------ */

    const GROUPS = [
        ["machine and collectives", function (t) { return t[0] === "machine" || t[1] === "collectives"; }],
        ["steps", function (t) { return t[1] === "steps"; }],
        ["programs", function (t) { return t[1] === "program"; }],
        ["links", function (t) { return t[1].indexOf(">") > 0; }],
        ["circuits", function (t) { return t[1] === "circuits"; }],
        ["all", function () { return true; }]
    ];
    /* Okabe and Ito's colours, which colour-blind people tell apart. */
    const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8ad2c"];
    const [TRACK, BEGIN, LENGTH, NAME, KIND] = [0, 1, 2, 3, 4];

    function beginTimeline() {
        const canvas = element("timeline-picture"), context = canvas.getContext("2d");
        const select = element("tracks"), byTrack = data.tracks.map(function () { return []; });
        let rows = [], first = 0, begin = 0, end = 1, last = 0;

        data.events.forEach(function (event) {
            byTrack[event[TRACK]].push(event);
            last = Math.max(last, event[BEGIN] + event[LENGTH]);
        });
        last = last || 1;

        function x(at) {
            return NAME_PX + (at - begin) / (end - begin) * (canvas.width - NAME_PX);
        }

        function shownRows() {
            return Math.floor((canvas.height - ROW_PX) / ROW_PX);
        }

        function drawRow(track, top) {
            context.fillStyle = style("--ink");
            context.fillText(data.tracks[track][0] + " " + data.tracks[track][1], 4, top + ROW_PX - 4, NAME_PX - 8);
            let drawn = -1;
            byTrack[track].forEach(function (event) {
                if (event[BEGIN] > end || event[BEGIN] + event[LENGTH] < begin) {
                    return;
                }
                const left = Math.max(NAME_PX, x(event[BEGIN]));
                const width = Math.max(1, Math.min(canvas.width, x(event[BEGIN] + event[LENGTH])) - left);
                if (left + width <= drawn && width <= 1) {
                    return; /* less than a point, where one is */
                }
                drawn = left + width;
                context.fillStyle = COLOURS[event[KIND] % COLOURS.length];
                context.fillRect(left, top + 2, width, ROW_PX - 4);
            });
        }

        function draw() {
            context.clearRect(0, 0, canvas.width, canvas.height);
            context.font = "11px sans-serif";
            rows.slice(first, first + shownRows()).forEach(function (track, i) {
                drawRow(track, ROW_PX + i * ROW_PX);
            });
            context.fillStyle = style("--ink");
            context.fillText(us(begin), NAME_PX, 11);
            const text = us(end);
            context.fillText(text, canvas.width - context.measureText(text).width - 4, 11);
            canvas.dataset.begin = begin;
            canvas.dataset.end = end;
        }

        function look(from, to) {
            const length = Math.min(last, Math.max(0.01, to - from));
            begin = Math.min(Math.max(0, from), last - length);
            end = begin + length;
            draw();
        }

        function zoom(factor, at) {
            look(at - (at - begin) * factor, at + (end - at) * factor);
        }

        function choose() {
            const wanted = GROUPS[Number(select.value)][1];
            rows = [];
            data.tracks.forEach(function (track, i) {
                if (wanted(track) && byTrack[i].length > 0) {
                    rows.push(i);
                }
            });
            first = 0;
            draw();
        }

        function move(rowsDown) {
            first = Math.max(0, Math.min(rows.length - shownRows(), first + rowsDown));
            draw();
        }

        function timeAt(mouse) {
            const box = canvas.getBoundingClientRect();
            const px = (mouse.clientX - box.left) * canvas.width / box.width;
            return begin + (px - NAME_PX) / (canvas.width - NAME_PX) * (end - begin);
        }

        function tell(mouse) {
            const box = canvas.getBoundingClientRect(), slack = (end - begin) / canvas.width;
            const row = Math.floor((mouse.clientY - box.top) * canvas.height / box.height / ROW_PX) - 1;
            const track = rows[first + row], at = timeAt(mouse);
            const found = track === undefined || row < 0 ? [] : byTrack[track].filter(function (event) {
                return event[BEGIN] - slack <= at && at <= event[BEGIN] + event[LENGTH] + slack;
            });
            element("event-text").textContent = found.slice(-4).map(function (event) {
                return data.strings[event[NAME]] + " (" + data.strings[event[KIND]] + "), " +
                    us(event[BEGIN]) + ", for " + us(event[LENGTH]);
            }).join("; ");
        }

        function key(event) {
            const part = (end - begin) / 5, middle = (begin + end) / 2;
            const keys = {
                "+": function () { zoom(0.5, middle); },
                "=": function () { zoom(0.5, middle); },
                "-": function () { zoom(2, middle); },
                "0": function () { look(0, last); },
                ArrowLeft: function () { look(begin - part, end - part); },
                ArrowRight: function () { look(begin + part, end + part); },
                ArrowUp: function () { move(-1); },
                ArrowDown: function () { move(1); },
                PageUp: function () { move(-shownRows()); },
                PageDown: function () { move(shownRows()); }
            };
            if (keys[event.key] && !event.ctrlKey && !event.metaKey) {
                keys[event.key]();
                event.preventDefault();
            }
        }

        let held = null;
        canvas.addEventListener("pointerdown", function (mouse) { held = timeAt(mouse); });
        window.addEventListener("pointerup", function () { held = null; });
        canvas.addEventListener("pointermove", function (mouse) {
            if (held === null) {
                tell(mouse);
            } else {
                const by = held - timeAt(mouse);
                look(begin + by, end + by);
            }
        });
        canvas.addEventListener("wheel", function (wheel) {
            if (wheel.ctrlKey) {
                zoom(wheel.deltaY > 0 ? 1.25 : 0.8, timeAt(wheel));
                wheel.preventDefault();
            }
        }, {passive: false});
        canvas.addEventListener("keydown", key);
        select.addEventListener("change", choose);
        element("zoom-in").addEventListener("click", function () { zoom(0.5, (begin + end) / 2); });
        element("zoom-out").addEventListener("click", function () { zoom(2, (begin + end) / 2); });
        element("zoom-all").addEventListener("click", function () { look(0, last); });
        GROUPS.forEach(function (group, i) {
            const option = document.createElement("option");
            option.value = i;
            option.textContent = group[0];
            select.appendChild(option);
        });
        element("timeline").hidden = false;
        canvas.width = Math.max(600, canvas.parentNode.clientWidth - 4);
        end = last;
        choose();
        return draw;
    }

    function beginPairs() {
        const canvas = element("pairs-picture");
        const known = new Map(data.pairs.map(function (pair) {
            return [pair[FROM] * data.nodes + pair[TO], pair];
        }));
        canvas.addEventListener("pointermove", function (mouse) {
            const box = canvas.getBoundingClientRect();
            const from = Math.floor((mouse.clientY - box.top) / box.height * data.nodes);
            const to = Math.floor((mouse.clientX - box.left) / box.width * data.nodes);
            const pair = known.get(from * data.nodes + to);
            element("pair-text").textContent = from + ">" + to + ": " +
                (pair ? pair[CIRCUITS] + " circuits, " + pair[BYTES] + " bytes" : "nothing");
        });
        element("pairs").hidden = false;
        function draw() {
            drawMatrix(canvas, data.pairs, BYTES);
        }
        draw();
        return draw;
    }

    beginNetwork();
    const redraw = data.events ? [beginTimeline(), beginPairs()] : [];
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () {
        redraw.forEach(function (draw) { draw(); });
    });
})();
