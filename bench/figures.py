"""How plot.py's pictures look, and where they go."""

import sys

try:
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot, ticker  # pylint: disable=unused-import
except ImportError:
    sys.exit("plot.py: matplotlib is missing; install python3-matplotlib")

# Okabe and Ito's palette (2008), which colour-blind people can tell apart; markers differ besides.
COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D1F", "#555555"]
STYLE = {"font.size": 8, "font.family": "sans-serif", "axes.titlesize": 9, "axes.linewidth": 0.6,
         "axes.spines.top": False, "axes.spines.right": False, "grid.linewidth": 0.4, "grid.color": "#dddddd",
         "lines.linewidth": 1.3, "lines.markersize": 3.5, "svg.hashsalt": "rondo", "legend.frameon": False}

pyplot.rcParams.update(STYLE)


def save(figure, prefix):
    """Writes PREFIX.png and PREFIX.svg, and forgets the figure. Raises OSError."""
    for suffix, options in ((".png", {"dpi": 200}), (".svg", {"metadata": {"Date": None}})):
        path = prefix.with_name(prefix.name + suffix)
        figure.savefig(path, **options)
        print(path)
    pyplot.close(figure)
