/*
 * report.js - draws what stands in #data: the network, the timeline, who sent to whom.
 *
 * Texts go into the page as textContent alone. Without this script the tables are there all the same.
 */
"use strict";
(function () {
    const data = JSON.parse(document.getElementById("data").textContent);
    const SVG = "http://www.w3.org/2000/svg";
    const DRAWN_NODES_MAX = 1024, NAMED_NODES_MAX = 256, OUTLINED_NODES_MAX = 128;
    const MATRIX_SIDE = 512, GRADES = 5, WIDE_PX = 900;
    const STEP_PX = 64, NODE_PX = 11, SIDE_PX = 3.5, ROW_PX = 18, NAME_PX = 130, ROWS_MAX = 24;
    const links = data.links, steps = data.steps || [], failed = new Set(data.failed);
    /* circuits.h, link_rows.h */
    const [FROM, TO, CIRCUITS, BYTES, BUSY, WAITED] = [0, 1, 2, 3, 4, 5];
    const [DOWNLOAD_BYTES, DOWNLOAD_BUSY, LOAD, REFUSED, REPEATS, DAMAGED] = [7, 8, 10, 11, 13, 14];
    const PAIR_DOWNLOAD_BYTES = 5;
    const rankOf = new Map((data.node_of_rank || []).map(function (node, rank) { return [node, rank]; }));
    const redraws = []; /* canvases, whose colours change with the system's */
    let shown = null;   /* the step that is looked at */

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

    function count(value) {
        return value.toLocaleString("en").replace(/,/g, "\u2009");
    }

    function nodeText(node) {
        return "node " + node + (rankOf.has(node) ? ", rank " + rankOf.get(node) : "");
    }

    /* From 0, nothing, to GRADES, the most. */
    function grade(value, most) {
        return value > 0 ? Math.min(GRADES, 1 + Math.floor(value / most * GRADES)) : 0;
    }

    function mostOf(rows, index) {
        return rows.reduce(function (most, row) { return Math.max(most, row[index] || 0); }, 0);
    }

    function choices(select, names) {
        names.forEach(function (name, i) {
            const option = document.createElement("option");
            option.value = i;
            option.textContent = name;
            select.appendChild(option);
        });
        select.disabled = names.length < 2;
    }

    /* What the colours mean: from a little to the most. */
    function drawScale(id, name, most, unit) {
        const scale = element(id);
        scale.textContent = most > 0 ? name + ": 0 " : name + ": nothing known";
        for (let i = 1; most > 0 && i <= GRADES; i++) {
            const span = document.createElement("span");
            span.className = "load" + i;
            scale.appendChild(span);
        }
        if (most > 0) {
            scale.appendChild(document.createTextNode(" " + unit(most)));
        }
    }

    /* The network ------------------------------------------------------------------------- */

    function coordinate(node, dimension) {
        const [size, stride] = data.dims[dimension];
        return Math.floor(node / stride) % size;
    }

    function isCircle() {
        return data.dims.length === 1 && data.dims[0][2];
    }

    /* Dimensions go across and down by turns. The third of a cube goes to the back; others are
     * copies beside, which lean, so that their links do not lie on others. */
    function units() {
        const list = [], span = [1, 1];
        const deep = data.dims.length > 2 && data.dims.every(function (dimension) { return dimension[0] === 2; });
        data.dims.forEach(function (dimension, d) {
            const size = dimension[0], axis = (deep && d > 2 ? d + 1 : d) % 2, unit = [0, 0];
            if (d < 2) {
                unit[axis] = 1;
            } else if (deep && d === 2) {
                unit[0] = 0.47;
                unit[1] = -0.37;
            } else {
                unit[axis] = span[axis] + 0.6;
                unit[1 - axis] = deep ? 0.7 : 0.42;
            }
            span[0] += Math.abs(unit[0]) * (size - 1);
            span[1] += Math.abs(unit[1]) * (size - 1);
            list.push(unit);
        });
        return list;
    }

    function places() {
        const unit = units(), radius = Math.max(1.2, data.nodes / (2 * Math.PI)), list = [];
        for (let node = 0; node < data.nodes; node++) {
            const at = [0, 0];
            if (isCircle()) {
                const angle = 2 * Math.PI * node / data.nodes - Math.PI / 2;
                at[0] = radius * Math.cos(angle);
                at[1] = radius * Math.sin(angle);
            } else {
                unit.forEach(function (u, d) {
                    at[0] += coordinate(node, d) * u[0];
                    at[1] += coordinate(node, d) * u[1];
                });
            }
            list.push([at[0] * STEP_PX, at[1] * STEP_PX]);
        }
        return list;
    }

    function isWrap(from, to) {
        return !isCircle() && data.dims.some(function (dimension, d) {
            return Math.abs(coordinate(from, d) - coordinate(to, d)) > 1;
        });
    }

    /* Each direction is a line of its own, at the right of its way, from rim to rim; wraparound is
     * a bow, both directions of it at the same side. */
    function linkPath(a, b, wraps) {
        const dx = b[0] - a[0], dy = b[1] - a[1], length = Math.hypot(dx, dy) || 1;
        const ux = dx / length, uy = dy / length, nx = -uy, ny = ux;
        const rim = NODE_PX + 1;
        function at(along, aside) {
            return (a[0] + ux * along + nx * aside).toFixed(1) + " " +
                (a[1] + uy * along + ny * aside).toFixed(1);
        }
        if (!wraps) {
            return "M" + at(rim, SIDE_PX) + "L" + at(length - rim - 1, SIDE_PX);
        }
        const forth = dx > 0 || (dx === 0 && dy < 0);
        const bow = forth ? -0.52 * STEP_PX : 0.62 * STEP_PX, inset = 0.06 * length;
        const start = rim * 0.75 * Math.sign(bow), side = rim * 0.65;
        return "M" + at(side, start) + "C" + at(inset, bow) + " " + at(length - inset, bow) + " " +
            at(length - side, start);
    }

    function linkText(link) {
        const more = [[LOAD, "load ", " %"], [REFUSED, "refused ", ""], [REPEATS, "repeats ", ""],
            [DAMAGED, "damaged ", ""]].filter(function (part) { return typeof link[part[0]] === "number"; });
        return link[FROM] + ">" + link[TO] + ": " + count(link[CIRCUITS]) + " circuits, " +
            count(link[BYTES]) + " bytes, busy " + us(link[BUSY]) + ", waited for " + us(link[WAITED]) +
            (link[DOWNLOAD_BYTES] ? ", download " + count(link[DOWNLOAD_BYTES]) + " bytes" : "") +
            more.map(function (part) {
                return ", " + part[1] + Number(link[part[0]].toFixed(1)) + part[2];
            }).join("");
    }

    /* What links may be coloured by, of which there is something. */
    const MEASURES = [
        ["busy", BUSY, us], ["waited for", WAITED, us], ["bytes", BYTES, count],
        ["repeats", REPEATS, count], ["damaged frames", DAMAGED, count], ["refused circuits", REFUSED, count],
        ["busy with the download", DOWNLOAD_BUSY, us], ["bytes of the download", DOWNLOAD_BYTES, count]
    ].filter(function (measure) { return mostOf(links, measure[1]) > 0; });
    let measure = MEASURES[0] || ["busy", BUSY, us];

    const lines = [], circles = [];
    let svg = null;

    function colourLinks() {
        const index = measure[1], most = mostOf(links, index);
        lines.forEach(function (line, i) {
            line.setAttribute("class", "link load" + grade(links[i][index], most));
        });
        drawScale("network-scale", "Links, " + measure[0], most, measure[2]);
        element("network-scale").appendChild(document.createTextNode(
            (rankOf.size > 0 ? " \u2003 r3: rank 3 is at this node" : "") +
            (failed.size > 0 ? " \u2003 broken rim: named in a fault" : "")));
    }

    function drawArrow() {
        const arrow = make(make(svg, "defs", {}), "marker", {
            id: "arrow", viewBox: "0 0 8 8", refX: 6, refY: 4, markerWidth: 9, markerHeight: 9,
            markerUnits: "userSpaceOnUse", orient: "auto"
        });
        make(arrow, "path", {d: "M0 0L8 4L0 8Z", "class": "arrow"});
    }

    function drawNode(p, node) {
        const circle = make(svg, "circle", {
            cx: p[0].toFixed(1), cy: p[1].toFixed(1), r: NODE_PX, "class": failed.has(node) ? "node failed" : "node"
        });
        make(circle, "title", {}, nodeText(node));
        circles.push(circle);
        if (data.nodes <= NAMED_NODES_MAX) {
            make(svg, "text", {x: p[0].toFixed(1), y: p[1].toFixed(1)}, node);
            if (rankOf.has(node)) {
                make(svg, "text", {
                    x: (p[0] + NODE_PX + 9).toFixed(1), y: (p[1] + NODE_PX + 5).toFixed(1), "class": "rank"
                }, "r" + rankOf.get(node));
            }
        }
    }

    function drawNetwork() {
        const at = places(), margin = 48;
        function edge(least, axis) {
            return least.apply(null, at.map(function (p) { return p[axis]; }));
        }
        const left = edge(Math.min, 0) - margin, top = edge(Math.min, 1) - margin;
        const width = edge(Math.max, 0) + margin - left, height = edge(Math.max, 1) + margin - top;
        svg = make(element("network-picture"), "svg", {
            viewBox: [left, top, width, height].map(Math.round).join(" "), "data-nodes": data.nodes
        });
        /* Few nodes do not fill the window: their links would be beams. */
        svg.style.maxWidth = Math.round(1.7 * width) + "px";
        element("pictures").classList.toggle("large", width > WIDE_PX);
        drawArrow();
        links.forEach(function (link, i) {
            const line = make(svg, "path", {
                d: linkPath(at[link[FROM]], at[link[TO]], isWrap(link[FROM], link[TO])), "data-link": i
            });
            make(line, "title", {}, linkText(link));
            lines.push(line);
        });
        at.forEach(drawNode);
    }

    /* Rows are where links or circuits begin, columns where they end. */
    function drawMatrix(canvas, rows, index) {
        const context = canvas.getContext("2d"), side = Math.min(data.nodes, MATRIX_SIDE);
        const cell = canvas.width / side, fold = data.nodes / side, sums = new Map();
        let most = 0;
        rows.forEach(function (row) {
            const key = Math.floor(row[FROM] / fold) * side + Math.floor(row[TO] / fold);
            const sum = (sums.get(key) || 0) + (row[index] || 0);
            sums.set(key, sum);
            most = Math.max(most, sum);
        });
        const gap = cell >= 12 ? 1 : 0;
        context.clearRect(0, 0, canvas.width, canvas.height);
        sums.forEach(function (sum, key) {
            if (sum > 0) {
                context.fillStyle = style("--load" + grade(sum, most));
                const left = Math.round(key % side * cell), top = Math.round(Math.floor(key / side) * cell);
                context.fillRect(left, top, Math.round(key % side * cell + cell) - left - gap,
                    Math.round(Math.floor(key / side) * cell + cell) - top - gap);
            }
        });
        return most;
    }

    function drawLinkMatrix() {
        const canvas = document.createElement("canvas");
        canvas.width = canvas.height = MATRIX_SIDE;
        element("network-picture").appendChild(canvas);
        function draw() {
            const most = drawMatrix(canvas, links, measure[1]);
            drawScale("network-scale", "Links, " + measure[0] + ", a row for each sender", most, measure[2]);
        }
        redraws.push(draw);
        return draw;
    }

    /* Steps: 0 is all of them, which are the loads. */
    function showStep(number) {
        const step = steps[number - 1];
        shown = step || null;
        lines.concat(circles).forEach(function (line) { line.classList.remove("lit"); });
        if (svg) {
            svg.classList.toggle("stepped", Boolean(step));
        }
        if (step) {
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
        }
        element("step-text").textContent = step
            ? number + " of " + steps.length + ": " + step.collective + ", step " + step.step + ", " +
                us(step.begin_us) + " to " + us(step.end_us) + ", " + step.circuits.length +
                " circuits on " + step.links.length + " links"
            : "all " + steps.length + " steps: the load of each link";
        element("step-back").disabled = number <= 0;
        element("step-on").disabled = number >= steps.length;
        redraws.forEach(function (draw) { draw(); });
    }

    function beginSteps() {
        const slider = element("step");
        function go(by) {
            slider.value = Number(slider.value) + by;
            slider.dispatchEvent(new Event("input"));
        }
        slider.max = steps.length;
        slider.addEventListener("input", function () { showStep(Number(slider.value)); });
        element("step-back").addEventListener("click", function () { go(-1); });
        element("step-on").addEventListener("click", function () { go(1); });
        element("steps-bar").hidden = steps.length === 0;
        /* An address that ends with #step=3 is that of a step. */
        const wanted = /^#step=(\d+)$/.exec(location.hash);
        slider.value = wanted ? wanted[1] : 0;
        if (steps.length > 0) {
            showStep(Number(slider.value));
        }
    }

    function beginNetwork() {
        const select = element("links-by");
        let colour = colourLinks;
        element("network").hidden = false;
        choices(select, MEASURES.map(function (m) { return m[0]; }));
        select.parentNode.hidden = MEASURES.length === 0;
        if (data.nodes <= DRAWN_NODES_MAX) {
            drawNetwork();
        } else {
            colour = drawLinkMatrix();
            element("network-large").hidden = false;
        }
        colour();
        select.addEventListener("change", function () {
            measure = MEASURES[Number(select.value)];
            colour();
            showStep(Number(element("step").value));
        });
    }

    /* The timeline ------------------------------------------------------------------------ */

    const GROUPS = [
        ["steps", function (t) { return t[1] === "steps"; }],
        ["machine and collectives", function (t) { return t[0] === "machine" || t[1] === "collectives"; }],
        ["programs", function (t) { return t[1] === "program"; }],
        ["links", function (t) { return t[1].indexOf(">") > 0; }],
        ["circuits", function (t) { return t[1] === "circuits"; }],
        ["all", function () { return true; }]
    ];
    /* Okabe and Ito's colours, which colour-blind people tell apart; all but the dark one, of what
     * was never over, bear black words. */
    const COLOURS = {
        step: "#56b4e9", circuit: "#56b4e9", sent: "#56b4e9", collective: "#e69f00", received: "#e69f00",
        reserved: "#cc79a7", measurement: "#cc79a7", phase: "#999999", compute: "#009e73", wait: "#f0e442",
        message: "#56b4e9", receive: "#e69f00", fault: "#d55e00", mark: "#d55e00", waiting: "#0072b2",
        refused: "#d55e00", frames: "#009e73"
    };
    const [TRACK, BEGIN, LENGTH, NAME, KIND] = [0, 1, 2, 3, 4];

    /* The machine, the host, then nodes by their numbers; tracks of one as they came. */
    function trackOrder(a, b) {
        function number(track) {
            const found = /^node (\d+)$/.exec(data.tracks[track][0]);
            return found ? 1 + Number(found[1]) : data.tracks[track][0] === "host" ? 0 : -1;
        }
        return number(a) - number(b) || a - b;
    }

    function colourOf(kind) {
        return COLOURS[data.strings[kind]] || "#d55e00";
    }

    /* 1, 2 or 5 times a power of ten. */
    function tickOf(length) {
        const power = Math.pow(10, Math.floor(Math.log10(length / 5)));
        return power * [1, 2, 5, 10].find(function (times) { return length / (power * times) <= 8; });
    }

    function beginTimeline() {
        const canvas = element("timeline-picture"), context = canvas.getContext("2d");
        const select = element("tracks"), byTrack = data.tracks.map(function () { return []; });
        const scale = window.devicePixelRatio || 1;
        let rows = [], first = 0, begin = 0, end = 1, last = 0, width = 0, height = 0;

        data.events.forEach(function (event) {
            byTrack[event[TRACK]].push(event);
            last = Math.max(last, event[BEGIN] + event[LENGTH]);
        });
        last = last || 1;
        const groups = GROUPS.map(function (group) {
            const found = [];
            data.tracks.forEach(function (track, i) {
                if (group[1](track) && byTrack[i].length > 0) {
                    found.push(i);
                }
            });
            return {name: group[0], rows: found.sort(trackOrder)};
        }).filter(function (group) { return group.rows.length > 0; });

        function x(at) {
            return NAME_PX + (at - begin) / (end - begin) * (width - NAME_PX);
        }

        function shownRows() {
            return Math.floor((height - ROW_PX) / ROW_PX);
        }

        function drawTicks() {
            const tick = tickOf(end - begin), digits = Math.max(0, -Math.floor(Math.log10(tick)));
            context.textAlign = "center";
            for (let i = Math.ceil(begin / tick); i * tick <= end; i++) {
                const at = x(i * tick);
                context.fillStyle = style("--faint");
                context.fillRect(Math.round(at), ROW_PX - 2, 1, height);
                context.fillStyle = style("--ink");
                if (at > NAME_PX + 20 && at < width - 60) {
                    context.fillText((i * tick).toFixed(digits), at, 12);
                }
            }
            context.textAlign = "right";
            context.fillText("\u00b5s of model time", NAME_PX - 8, 12);
            context.textAlign = "left";
        }

        function drawShownStep() {
            if (shown && shown.end_us > begin && shown.begin_us < end) {
                const left = Math.max(NAME_PX, x(shown.begin_us)), right = Math.min(width, x(shown.end_us));
                context.fillStyle = style("--band");
                context.fillRect(left, ROW_PX, right - left, height);
            }
        }

        function drawRow(track, top) {
            let drawn = -1;
            context.fillStyle = style("--ink");
            context.fillText(data.tracks[track][0] + " " + data.tracks[track][1], 6, top + ROW_PX - 5, NAME_PX - 12);
            byTrack[track].forEach(function (event) {
                if (event[BEGIN] > end || event[BEGIN] + event[LENGTH] < begin) {
                    return;
                }
                const left = Math.max(NAME_PX, x(event[BEGIN]));
                const wide = Math.max(1, Math.min(width, x(event[BEGIN] + event[LENGTH])) - left);
                if (left + wide <= drawn && wide <= 1) {
                    return; /* less than a point, where one is */
                }
                drawn = left + wide;
                context.fillStyle = colourOf(event[KIND]);
                context.fillRect(left, top + 2, wide > 3 ? wide - 0.7 : wide, ROW_PX - 4);
                const name = data.strings[event[NAME]];
                if (wide > 24 && context.measureText(name).width < wide - 8) {
                    context.fillStyle = colourOf(event[KIND]) === COLOURS.waiting ? "#ffffff" : "#000000";
                    context.fillText(name, left + 4, top + ROW_PX - 5);
                }
            });
        }

        function draw() {
            context.setTransform(scale, 0, 0, scale, 0, 0);
            context.clearRect(0, 0, width, height);
            context.font = "11px system-ui, sans-serif";
            drawTicks();
            drawShownStep();
            rows.slice(first, first + shownRows()).forEach(function (track, i) {
                drawRow(track, ROW_PX + i * ROW_PX);
            });
            element("rows-text").textContent = rows.length > shownRows()
                ? "Tracks " + (first + 1) + " to " + Math.min(rows.length, first + shownRows()) + " of " + rows.length + "."
                : "";
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

        function drawKinds() {
            const legend = element("kinds"), used = new Set();
            rows.forEach(function (track) {
                byTrack[track].forEach(function (event) { used.add(event[KIND]); });
            });
            legend.textContent = "";
            used.forEach(function (kind) {
                const span = document.createElement("span");
                span.style.background = colourOf(kind);
                legend.appendChild(span);
                legend.appendChild(document.createTextNode(data.strings[kind] + "\u2003"));
            });
        }

        function choose() {
            rows = groups[Number(select.value)].rows;
            first = 0;
            width = Math.max(300, canvas.parentNode.clientWidth);
            height = ROW_PX * (1 + Math.min(rows.length, ROWS_MAX)) + 4;
            canvas.style.width = width + "px";
            canvas.style.height = height + "px";
            canvas.width = width * scale;
            canvas.height = height * scale;
            drawKinds();
            draw();
        }

        function move(rowsDown) {
            first = Math.max(0, Math.min(rows.length - shownRows(), first + rowsDown));
            draw();
        }

        function timeAt(mouse) {
            const box = canvas.getBoundingClientRect();
            return begin + ((mouse.clientX - box.left) * width / box.width - NAME_PX) / (width - NAME_PX) * (end - begin);
        }

        function tell(mouse) {
            const box = canvas.getBoundingClientRect(), slack = (end - begin) / width;
            const row = Math.floor((mouse.clientY - box.top) * height / box.height / ROW_PX) - 1;
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
        window.addEventListener("resize", choose);
        choices(select, groups.map(function (group) { return group.name; }));
        element("timeline").hidden = groups.length === 0;
        if (groups.length > 0) {
            end = last;
            choose();
            redraws.push(draw);
        }
    }

    /* Who sent to whom -------------------------------------------------------------------- */

    function beginPairs() {
        const canvas = element("pairs-picture");
        const known = new Map(data.pairs.map(function (pair) {
            return [pair[FROM] * data.nodes + pair[TO], pair];
        }));
        const index = mostOf(data.pairs, BYTES) > 0 ? BYTES : PAIR_DOWNLOAD_BYTES;
        canvas.addEventListener("pointermove", function (mouse) {
            const box = canvas.getBoundingClientRect();
            const from = Math.floor((mouse.clientY - box.top) / box.height * data.nodes);
            const to = Math.floor((mouse.clientX - box.left) / box.width * data.nodes);
            const pair = known.get(from * data.nodes + to);
            element("pair-text").textContent = nodeText(from) + " to " + nodeText(to) + ": " +
                (pair ? count(pair[CIRCUITS]) + " circuits, " + count(pair[BYTES]) + " bytes" +
                    (pair[PAIR_DOWNLOAD_BYTES] ? ", download " + count(pair[PAIR_DOWNLOAD_BYTES]) + " bytes" : "")
                    : "nothing");
        });
        function outline() {
            const context = canvas.getContext("2d"), cell = canvas.width / data.nodes;
            context.strokeStyle = style("--lit");
            context.lineWidth = Math.max(1, Math.min(4, cell / 6));
            shown.circuits.forEach(function (circuit) {
                const half = context.lineWidth / 2;
                context.strokeRect(circuit[TO] * cell + half, circuit[FROM] * cell + half,
                    cell - 2 * half - 1, cell - 2 * half - 1);
            });
        }
        function draw() {
            const most = drawMatrix(canvas, data.pairs, index);
            drawScale("pairs-scale", index === BYTES ? "Bytes" : "Bytes of the download", most, count);
            if (shown && data.nodes <= OUTLINED_NODES_MAX) {
                outline();
            }
        }
        element("pairs").hidden = data.pairs.length === 0;
        draw();
        redraws.push(draw);
    }

    beginNetwork();
    if (data.events) {
        beginTimeline();
        beginPairs();
    }
    beginSteps();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () {
        redraws.forEach(function (draw) { draw(); });
    });
})();
