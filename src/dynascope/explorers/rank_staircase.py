"""From a small start a network of products learns its entries one by one, in stages."""

from dataclasses import dataclass

from dynascope.core.charts import Chart
from dynascope.core.spec import Spec
from dynascope.explorers.budget import Work
from dynascope.explorers.explorer import Explored, explorer
from dynascope.explorers.moves import Slider
from dynascope.explorers.pieces.sentences import listed
from dynascope.instruments.staircase.drawing import entries_panel, loss_panel
from dynascope.instruments.staircase.learning import learn_products

POINTS = 161


@dataclass(frozen=True)
class Settings(Spec, tag="explorers.rank-staircase"):
    """Three entries to be learned, and how small the start is, in powers of ten."""

    strengths: tuple[float, float, float] = (2.0, 1.2, 0.7)
    decades: float = 8.0


@explorer(
    "The staircase of ranks",
    about="A network whose weights enter as products u v learns from a start of size "
    "10^-decades. In time over log(1 / start), each entry waits, then appears at once: the "
    "smaller the start, the sharper the stairs. Dashed is the limit of a vanishing start, in "
    "which entry i appears at 1 / strength; dotted, the closed form at this start.",
    moves=(
        Slider("decades", "size of the start", 0.5, 60.0, "log", "powers of ten"),
        Slider("strengths[0]", "strength of the first entry", 0.3, 4.0),
        Slider("strengths[1]", "strength of the second entry", 0.3, 4.0),
        Slider("strengths[2]", "strength of the third entry", 0.3, 4.0),
    ),
    studies=("rank-staircase", "rank-proof"),
    work=lambda s: Work(POINTS, size=2 * len(s.strengths)),
)
def rank_staircase(s: Settings) -> Explored:
    """Each entry over time, and the loss as a staircase."""
    found = learn_products(s.strengths, s.decades, POINTS)
    limits = listed(1 / strength for strength in s.strengths)
    words = (
        f"Half learned at {listed(found.attrs['half_times'])}; in the limit of a vanishing start "
        f"at {limits}.",
    )
    panels = entries_panel(found, s.strengths), loss_panel(found)
    return Explored(found, Chart("rank-staircase", "Entries and loss", words[0], panels), words)
