"""One direction's orbit, where descent escapes, and which models forbid a second direction."""

from collections.abc import Callable

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import chen2025
from dynascope.probes.orbits import period
from dynascope.studies.comparisons import at_most, in_all_seeds
from dynascope.studies.measures import exact, share
from dynascope.studies.nodes import case
from dynascope.studies.oscillation.matrix_factorization import cases, runs, witnesses
from dynascope.studies.oscillation.matrix_factorization.runs import (
    ALPHAS,
    BEYOND,
    CHAOTIC,
    FOUR,
    STILL,
    TWO,
    study,
)
from dynascope.theories.oscillation.quartic import orbit_points

Strengths = tuple[float, ...]
Traces = dict[float, runs.Trace]


def with_printed_sharpness(places: cases.Places) -> Measured:
    """Share of places whose sharpness is s_max(X)^2 + s_max(Y)^2, within 1e-9."""
    flags = []
    for x, y, target in places:
        top = np.linalg.eigvalsh(witnesses.hessian(x, y, target))[-1]
        squares = np.linalg.norm(x, 2) ** 2 + np.linalg.norm(y, 2) ** 2
        flags.append(abs(squares / top - 1) < 1e-9)
    return share(np.array(flags))


def with_printed_condition(places: cases.Places) -> Measured:
    """Share of directions along which both sides of Theorem B.3's identity agree within 1e-9."""
    ratios = [witnesses.criticality_ratio(x, y, along) for x, y, along in places]
    return share(np.abs(np.array(ratios) - 1) < 1e-9)


study.claim(
    "sharpness", "At a minimiser X Y = C the sharpness is s_max(X)^2 + s_max(Y)^2.",
    chen2025("Remark 3"), with_printed_sharpness, in_all_seeds("printed"),
    on=cases.targets["minimisers"],
    fails_on=case("places that are no minimisers", cases.targets["elsewhere"]),
    holds_on=case("numbers, whose sharpness is x^2 + y^2", cases.targets["numbers"]),
    note=f"Random factors of {len(cases.SHAPES)} shapes against the dense Hessian.",
)  # fmt: skip
study.claim(
    "top-direction",
    "Along the top eigenvector 3 f3^2 - f2 f4 = 96 ||dX Y + X dY||^2 ||dX dY||^2 > 0.",
    chen2025("Thms. B.3, B.10"), with_printed_condition, in_all_seeds("printed"),
    on=cases.directions["top"], fails_on=case("random directions", cases.directions["random"]),
    holds_on=case("diagonal factors, whose top direction has numbers alone, for which it is an "
                  "identity", cases.directions["diagonal"]),
)  # fmt: skip


def on_orbit(traces: Traces, strengths: Strengths) -> Measured:
    """Share of seeds with the top values of Y and Z on the closed form's points, within 1e-6."""
    flags = []
    for k in strengths:
        pair = np.sort(traces[k].tops[-2:], axis=0)  # (2, seeds, 2)
        flags.append((np.abs(pair - orbit_points(k, 1.0)[:, None, None]) < 1e-6).all(axis=(0, 2)))
    return share(np.all(flags, axis=0))


study.claim(
    "orbit",
    "From small generic starts both factors end on the same orbit of period 2 if "
    "1 < K < 1.236 and K + b < 2.",
    chen2025("Obs. 1, to the doubling instead of 1.121"), on_orbit, in_all_seeds("derived"),
    on=(runs.traces, TWO),
    fails_on=case("K = 1.26, beyond the doubling", runs.traces, (1.26,)),
    holds_on=case("starts within 0.001 of the orbit", runs.near_orbit, (1.1,)),
)  # fmt: skip


def on_balanced_orbit(quasi: dict[str, runs.QuasiRun], names: tuple[str, ...]) -> Measured:
    """Share of seeds whose top directions of Y and Z are both on the orbit, within 1e-6."""
    flags = []
    for run in (quasi[name] for name in names):
        points = orbit_points(1.0, run.strength)[:, None, None]
        misses = np.abs(np.sort(run.settled, axis=0) / points - 1)
        flags.append(misses.max(axis=(0, 2)) < 1e-6)
    return share(np.all(flags, axis=0))


study.claim(
    "quasi-symmetric",
    "Starts near (alpha X0, X0 / alpha) end on the balanced orbit, for alpha = 1 and 0.8.",
    chen2025("Obs. 2, Fig. B.3"), on_balanced_orbit, in_all_seeds("printed"),
    on=(runs.quasi, ("alpha = 1", "alpha = 0.8")),
    fails_on=case("K = 1.26, beyond the doubling", runs.quasi, ("beyond the doubling",)),
    holds_on=case("starts beside the orbit", runs.quasi, ("on the orbit",)),
    note="Random 8 x 8 targets at K = 1.02 for which (3.9) is true.",
)  # fmt: skip
study.claim(
    "line", "The orbit of period 2 of a factorisation loses its stability at b = 2 - K.",
    chen2025("Obs. 1 exact", how="derived; makes"),
    lambda ends: exact(np.max([abs(k + b - 2) for k, b in ends.items()])), at_most(1e-3, "derived"),
    on=cases.ends_of_stability["two columns"],
    fails_on=case("factors of one column, where it ends at b = 1",
                  cases.ends_of_stability["one column"]),
    holds_on=case("K = 1.02, where the orbit is next to the minimum, whose multiplier is 1 - K - b",
                  cases.ends_of_stability["next to the minimum"]),
    note="By the numerical Jacobian of two steps, at K = "
    f"{', '.join(f'{k:g}' for k in cases.LINE)}.",
    measures="Largest distance |K + b - 2| of the end of stability from the line.",
)  # fmt: skip


def radii(products: list[np.ndarray]) -> np.ndarray:
    """Largest modulus of an eigenvalue of each."""
    return np.array([np.abs(np.linalg.eigvals(q)).max() for q in products])


def beyond_circle(products: list[np.ndarray]) -> Measured:
    """Share of products with an eigenvalue beyond the unit circle, by more than rounding."""
    return exact((radii(products) > 1 + 1e-6).mean())


for _slug, _kind, _ours in (
    ("transition-matrix", "alpha = 1 and 0.8", False),  # the values of Fig. 3.2
    ("transition-matrix-between", "alpha = 0.9", True),
):
    study.claim(
        _slug,
        f"At {_kind}, wherever (3.9) is true, the product of both transition matrices on the "
        "orbit has no eigenvalue beyond the unit circle, as the proof assumes.",
        chen2025("B.10.2, the assumption before (B.183)"), beyond_circle,
        at_most(0.0, "ours" if _ours else "printed"), exploratory=_ours,
        on=cases.products[_kind],
        fails_on=case("alpha = 1 and K + b > 2.02", cases.products["beyond the line"]),
        holds_on=case("at the minimum, where they are 1, 1 and (1 - K - b)^2 twice (B.184)",
                      cases.products["at the minimum"]),
        note=lambda products: f"{len(products)} pairs of K up to 1.12 and b that keep (3.9) by "
        f"0.02; the largest modulus is {radii(products).max():.3f}.",
    )  # fmt: skip


Where = Callable[[np.ndarray, np.ndarray], np.ndarray]  # of K and b: which cells of the map


def staying(seen: runs.Map, where: Where) -> Measured:
    """Share of some cells of the map that stay bounded."""
    return share(~seen.escaped[where(seen.strength, seen.other)])


def below_line(k: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The cells more than 0.02 below the line K + b = 2."""
    return k + b - 2 < -0.02


def far_above(k: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The cells more than 0.1 above the line K + b = 2."""
    return k + b - 2 > 0.1


def condition(alpha: float) -> Where:
    """The cells that meet (3.9)."""
    a = alpha**2
    return lambda k, b: np.maximum(k / a + b * a, b / a + k * a) <= 2


def met(seen: runs.Map, where: Where) -> str:
    """How many cells meet a condition, and how many others stay bounded."""
    inside = where(seen.strength, seen.other)
    return (f"{inside.sum()} cells meet it, with one start each; {(~seen.escaped & ~inside).sum()} "
            "others stay bounded too: sufficient, not tight.")  # fmt: skip


for _slug, _kind, _place, _where, _words in (
    ("map", "generic", "(a), Obs. 1", below_line, "No descent escapes while K + b < 1.98."),
    ("quasi-map", "quasi", "(b), (3.9)", condition(ALPHAS["quasi"]),
     "From quasi-symmetric starts the condition (3.9) keeps descent from escaping."),
    ("symmetric-map", "symmetric", "(c), (3.9)", condition(ALPHAS["symmetric"]),
     "From symmetric starts, alpha = 1, the condition (3.9) is K + b <= 2 and keeps descent from "
     "escaping."),
):  # fmt: skip
    study.claim(
        _slug, _words, chen2025(f"Fig. 3.2 {_place}"), staying, in_all_seeds("printed"),
        on=(runs.escaped[_kind], _where), note=met,
        fails_on=case("K + b > 2.1", runs.escaped[_kind], far_above),
        holds_on=case("K < 1, where nothing oscillates", runs.escaped["before the edge"], _where),
    )  # fmt: skip

# --- which models forbid a second direction ----------------------------------------------------

Edges = slice | int  # numbers of edges


def escaping(seen: runs.ByEdges, model: str, edges: Edges) -> Measured:
    """Share of seeds from which descent escapes for each of these numbers of edges."""
    return share(np.asarray(np.atleast_2d(getattr(seen, model)[edges]).all(axis=0)))


some = slice(1, None)
study.claim(
    "separable-model",
    "Descent on a factorisation escapes once its second direction is past the edge too, so that a "
    "separable sum of directions, which would stay, does not explain it.",
    chen2025("section 3.6.2, after (3.10)"), escaping, in_all_seeds("printed"),
    on=(runs.edges[1.05], "asymmetric", -1),
    fails_on=case("no cross terms: the separable sum itself", runs.edges[1.05], "asymmetric", 0),
    holds_on=case("K = 2.1, where even one direction escapes", runs.edges[2.1], "asymmetric", 0),
    note="Two equal strengths have K + b = 2K > 2.",
)  # fmt: skip
study.claim(
    "cross-terms", "The cross terms between directions alone forbid a second one to oscillate.",
    chen2025("(3.11), (3.12)", how="a reading of"), escaping, in_all_seeds("ours"),
    on=(runs.edges[1.05], "symmetric", some),
    fails_on=case("K = 0.9, where nothing oscillates", runs.edges[0.9], "symmetric", some),
    holds_on=case("K = 2.1, where every direction escapes", runs.edges[2.1], "symmetric", some),
    partner="edge-and-asymmetry", exploratory=True,
)  # fmt: skip


def allowed(seen: runs.ByEdges) -> np.ndarray:
    """Eigenvalues beyond 2 / rate where descent on X X^T stays bounded, (counts, seeds)."""
    return np.where(seen.symmetric, 0, seen.beyond)


def allows_fewer(seen: runs.ByEdges) -> Measured:
    """Share of seeds for which all edges allow fewer eigenvalues beyond 2 / rate than none."""
    found = allowed(seen)
    return share(found[-1] < found[0])


study.claim(
    "more-edges",
    "A model with more cross terms allows fewer eigenvalues of the Hessian beyond 2 / eta.",
    chen2025("section 3.6.2, after (3.12)"), allows_fewer, in_all_seeds("printed"),
    on=runs.edges[1.05], fails_on=case("K = 0.9, where none is beyond it", runs.edges[0.9]),
    holds_on=case("planted escapes with all edges, and none without", runs.planted_edges),
    note=lambda seen: "By number of edges, 0 where it escapes: "
    f"{', '.join(f'{n:.0f}' for n in allowed(seen).mean(axis=1))}.",
)  # fmt: skip
study.claim(
    "edge-and-asymmetry",
    "Cross terms and asymmetry together forbid a second direction to oscillate: with Y and Z "
    "apart a single cross term makes every descent escape.",
    chen2025("(3.12)", how="derived; sharpens"), escaping, in_all_seeds("derived"),
    on=(runs.edges[1.05], "asymmetric", some),
    fails_on=case("no edge", runs.edges[1.05], "asymmetric", 0),
    holds_on=case("K = 2.1, where every direction escapes", runs.edges[2.1], "asymmetric", some),
    note="With Y = Z none escapes, whatever the edges.", partner="cross-terms",
)  # fmt: skip

# --- Fig. 3.3 ----------------------------------------------------------------------------------


def equal_tops(traces: Traces, strengths: Strengths) -> Measured:
    """Share of seeds with s_max(Y) = s_max(Z) within 1e-6 in the last ten steps."""
    gaps = [np.abs(np.diff(traces[k].tops[-10:], axis=2)).max(axis=(0, 2)) for k in strengths]
    return share(np.max(gaps, axis=0) < 1e-6)


def with_period(traces: Traces, strengths: Strengths, said: int) -> Measured:
    """Share of seeds whose s_max(Y) has a period at all these strengths."""
    flags = [[period(own, tolerance=1e-6) == said for own in traces[k].tops[:, :, 0].T]
             for k in strengths]  # fmt: skip
    return share(np.all(flags, axis=0))


def distinct(values: np.ndarray) -> int:
    """How many values there are, to six digits."""
    return len(np.unique(np.round(values, 6)))


def without_period(traces: Traces, strengths: Strengths) -> Measured:
    """Share of seeds whose s_max(Y) takes more than 64 values at all these strengths."""
    flags = [[distinct(own) > 64 for own in traces[k].tops[:, :, 0].T] for k in strengths]
    return share(np.all(flags, axis=0))


def aligned(traces: Traces, strengths: Strengths) -> Measured:
    """Share of seeds whose top directions u1^T Y and u1^T Z are equal within 1e-9."""
    return share(np.max([traces[k].apart for k in strengths], axis=0) < 1e-9)


before_edge = case("K = 0.95, before the edge", runs.traces, (0.95,))
beside_orbit = case("starts within 0.001 of the orbit", runs.near_orbit, (1.1,))
past_edge = (*TWO, *FOUR, 1.283, *BEYOND)
study.claim(
    "equal-tops-as-printed",
    "For 1 < K < 1.38 the largest singular values of Y and Z become equal.",
    chen2025("Fig. 3.3 (1)"), equal_tops, in_all_seeds("printed"), on=(runs.traces, past_edge),
    fails_on=before_edge, holds_on=beside_orbit, partner="balance",
    note="With b = 0.3. They differ once the low phase of the top direction is below the second "
    "singular value of Y or Z.",
)  # fmt: skip
study.claim(
    "balance", "Past the edge the top directions of Y and Z become equal.",
    chen2025("Fig. 3.3 (1), (5)", how="derived; makes exact"), aligned, in_all_seeds("derived"),
    on=(runs.traces, past_edge), fails_on=before_edge, holds_on=beside_orbit,
    partner="equal-tops-as-printed",
)  # fmt: skip
for _slug, _strengths, _period, _words, _item, _other, _sure in (
    ("still", STILL, 1, "For K < 1 nothing oscillates.", 5,
     case("K = 1.1", runs.traces, (1.1,), 1),
     case("planted values that do not move", runs.planted_still, (1.0,), 1)),
    ("period-two", TWO, 2, "For 1 < K < 1.23 the largest singular value of Y has period 2.", 2,
     case("K = 1.26", runs.traces, (1.26,), 2),
     case("starts within 0.001 of the orbit", runs.near_orbit, (1.1,), 2)),
    ("period-four", FOUR, 4, "For 1.23 < K < 1.28 the largest singular value of Y has period 4.",
     3, case("K = 1.1", runs.traces, (1.1,), 4),
     case("starts within 0.001 of an orbit", runs.near_orbit, FOUR[:1], 4)),
):  # fmt: skip
    study.claim(
        _slug, _words, chen2025(f"Fig. 3.3 ({_item})"), with_period, in_all_seeds("printed"),
        on=(runs.traces, _strengths, _period), fails_on=_other, holds_on=_sure,
        note=f"At K = {', '.join(f'{k:g}' for k in _strengths)}.",
    )  # fmt: skip
for _slug, _partner, _strengths, _words, _source, _bound in (
    ("rather-chaotic", "chaos", BEYOND, "Beyond K = 1.28, from 1.295 on, descent is chaotic.",
     chen2025("Fig. 3.3 (4)", how="a reading of"), in_all_seeds("ours")),
    ("chaos", "rather-chaotic", CHAOTIC, "Beyond K = 1.3023, where the doublings of the quartic "
     "end, descent is chaotic at 1.31 and 1.35.",
     chen2025("Fig. 3.3 (4)", how="derived; corrects"), in_all_seeds("derived")),
):  # fmt: skip
    study.claim(
        _slug, _words, _source, without_period, _bound, on=(runs.traces, _strengths),
        fails_on=case("K = 1.1, on the orbit", runs.traces, (1.1,)), partner=_partner,
        holds_on=case("starts near the quartic's own descent, chaotic there at 1.35",
                      runs.near_orbit, CHAOTIC[-1:]),
        note=lambda traces, strengths: "Values of one seed to six digits: " + ", ".join(
            f"{distinct(traces[k].tops[:, 0, 0])} at {k:g}" for k in strengths) + ".",
        exploratory=_strengths == BEYOND,
    )  # fmt: skip
