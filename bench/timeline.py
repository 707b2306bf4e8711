"""Draws one training step out of a trace that RONDO_TRACE wrote; for plot.py."""

from figures import COLORS, pyplot
from result_files import BadFile

COMPUTE, WAITING, COMMUNICATION = COLORS[0], COLORS[1], COLORS[2]
COMPUTE_TRACK = 0


class Span:
    """Something that took its time on a rank, in milliseconds."""

    def __init__(self, event):
        try:
            self.rank, self.track, self.name = event["pid"], event["tid"], event["name"]
            self.start, self.length = event["ts"] / 1e3, event["dur"] / 1e3
            self.bytes = event["args"]["bytes"]
        except (KeyError, TypeError) as error:
            raise BadFile(f"an event of the trace has no valid {error}") from error

    @property
    def end(self):
        return self.start + self.length


def spans_of(document):
    spans = [Span(event) for event in document["traceEvents"]
             if isinstance(event, dict) and event.get("ph") == "X"]
    if not any(span.name == "step" for span in spans):
        raise BadFile("the trace has no training step: nothing called GradientReducer::finish()")
    return spans


def steps_by_rank(spans, number):
    """Each rank's step `number`; None: one in the middle, when everything is warm."""
    steps = {}
    for span in sorted(spans, key=lambda span: span.start):
        if span.name == "step":
            steps.setdefault(span.rank, []).append(span)
    fewest = min(len(of_rank) for of_rank in steps.values())
    number = fewest // 2 if number is None else number
    if not 0 <= number < fewest:
        raise BadFile(f"--step {number}: the trace has steps 0 to {fewest - 1}")
    return number, {rank: of_rank[number] for rank, of_rank in sorted(steps.items())}


def communication_of(spans, step):
    """What was under way during a step, by track, without the reduction of the number of samples."""
    tracks = {}
    for span in spans:
        if span.rank == step.rank and span.track != COMPUTE_TRACK and span.bytes > 8 and \
                span.end > step.start and span.start < step.end:
            tracks.setdefault(span.track, []).append(span)
    return [tracks[track] for track in sorted(tracks)]


def draw_bars(axes, spans, origin, height, color):
    axes.broken_barh([(span.start - origin, span.length) for span in spans], (height - 0.36, 0.72),
                     facecolor=color, edgecolor="white", linewidth=0.4)


def total(intervals):
    """The length of a union of intervals."""
    length, reached = 0, float("-inf")
    for start, end in sorted(intervals):
        length += max(0, end - max(start, reached))
        reached = max(reached, end)
    return length


def summary(step, waits, tracks):
    travelled = total([(span.start, span.end) for track in tracks for span in track])
    exposed = total([(wait.start, wait.end) for wait in waits])
    return f"{step.length:.2f} ms, gradients travelled for {travelled:.2f}, exposed {exposed:.2f}"


def rows_of(spans, steps):
    """From top to bottom: (label, what to say above it, [(spans, color)])."""
    for rank, step in steps.items():
        waits = [span for span in spans if span.rank == rank and span.name == "waiting" and
                 step.start <= span.start < step.end]
        tracks = communication_of(spans, step)
        yield f"rank {rank}\ncompute", summary(step, waits, tracks), [([step], COMPUTE), (waits, WAITING)]
        for i, track in enumerate(tracks):
            yield "reductions" if i == 0 else "", "", [(track, COMMUNICATION)]


def draw_step(document, number, title):
    """A figure: for each rank when it computed, when it stood still, and what travelled meanwhile."""
    spans = spans_of(document)
    number, steps = steps_by_rank(spans, number)
    origin = min(step.start for step in steps.values())
    rows = list(rows_of(spans, steps))
    height = 1.25 + 0.34 * len(rows) + 0.2 * len(steps)
    figure, axes = pyplot.subplots(figsize=(7.2, height))
    figure.subplots_adjust(left=0.1, right=0.98, top=1 - 0.35 / height, bottom=0.65 / height)
    place, ticks = 0, []
    for label, text, bars in rows:
        place -= 1.55 if text else 1
        ticks.append((place, label))
        for of_bar, color in bars:
            draw_bars(axes, of_bar, origin, place, color)
        axes.annotate(text, (1, place + 0.42), xycoords=("axes fraction", "data"), ha="right", va="bottom",
                      fontsize=6, color="#444444")
    axes.set_yticks(*zip(*ticks))
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(place - 0.6, -0.4)
    axes.set_xlim(left=0)
    axes.set_xlabel("ms since the step began")
    axes.grid(True, axis="x")
    axes.set_axisbelow(True)
    axes.set_title(title or f"step {number}", loc="left")
    legend = {"computing": COMPUTE, "standing still (exposed)": WAITING, "gradients on their way": COMMUNICATION}
    figure.legend(handles=[pyplot.Rectangle((0, 0), 1, 1, color=color, label=label)
                           for label, color in legend.items()], loc="lower center", ncols=3)
    return figure
