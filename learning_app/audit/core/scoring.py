"""The six scorers. Sources: S2 (six scoring dimensions), decisions (audit arithmetic). Pure.

Each takes the records of its window and nothing from after `now`; scores are exact fractions until the end, so that a
score on the edge of a band lies in it. Records may be streams: nothing is read twice, no list of them is kept.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from fractions import Fraction

from learning_app.audit.core.records import (
    MAX_ROWS,
    MEDIUM_SHARE,
    CaseCounts,
    CaseRecord,
    DimensionScore,
    EventRecord,
    Finding,
    FindingCode,
    HeartbeatRecord,
    MethodologyRecord,
    Severity,
    case_rows,
    methodology_rows,
    severity_of,
)
from learning_app.methodologies.core.wilson import wilson_lower_bound
from learning_app.vocabulary import LifecycleKind, OutcomeState
from minara_site.kernel.core.assets import AssetGroup

SIDES = ("flag", "recovery")
OSCILLATION = timedelta(days=7)
OBSERVATION = timedelta(days=30)
"""How long a graduation is watched before it counts as one that held."""
BACKLOG_AGE = timedelta(days=14)
RESOLVE_WEIGHT, BACKLOG_WEIGHT = Fraction(7, 10), Fraction(3, 10)
MIN_ACTIVE_USES = 10
GOAL_METHODS, GOAL_GROUPS, CHURN_EVENTS = 3, 3, 3
ON_TIME, DEAD = timedelta(hours=12), timedelta(days=7)
"""Twice the interval of the learning cron, and the lag at which the loop counts as dead."""
MAX_OVERDUE_PENALTY, FULL_OVERDUE = 30, 100
UNRESOLVED_SHARE = Fraction(1, 5)

RESOLVED = (OutcomeState.CONFIRMED_GOOD, OutcomeState.CONFIRMED_BAD)
SYNTHESIS_KINDS = (
    LifecycleKind.REFLECTION_ADJUSTED,
    LifecycleKind.MARKET_STRESS_FREEZE,
    LifecycleKind.SYNTHESIS_AUTO_DEMOTE,
)
REVERSAL_KINDS = (LifecycleKind.DEMOTED, LifecycleKind.REQUANTIZED_BY_JUDGE)
NO_STATE_CHANGE = {
    LifecycleKind.REFLECTION_ADJUSTED,
    LifecycleKind.OUTCOME_RECORDED,
    LifecycleKind.DEDUPLICATED,
    LifecycleKind.MARKET_STRESS_FREEZE,  # the store's, of no methodology
}
STATE_CHANGES = tuple(kind for kind in LifecycleKind if kind not in NO_STATE_CHANGE)


def score_synthesis_quality(events: Iterable[EventRecord]) -> DimensionScore:
    """Score how seldom verdicts on a methodology change side; `events` are in order of time.

    A verdict after a methodology's first counts, and as a change when its side differs from that of the one before,
    at most 7 days earlier. A flag that prices contradict is no verdict. It, freezes and demotions are findings whatever
    the score is; no verdict is no score.
    """
    last: dict[str, tuple[str, datetime]] = {}
    changes: Counter[str] = Counter()
    demoted: Counter[str] = Counter()
    contradicted: Counter[str] = Counter()
    unreadable: Counter[str] = Counter()
    later = freezes = 0
    for event in events:
        uid = event.methodology or ""
        if event.kind == LifecycleKind.MARKET_STRESS_FREEZE:
            freezes += 1
        elif event.kind == LifecycleKind.SYNTHESIS_AUTO_DEMOTE:
            demoted[uid] += 1
        elif event.is_uncounted:
            contradicted[uid] += 1
        elif (side := event.reason.partition(":")[0]) not in SIDES:
            unreadable[uid] += 1
        else:
            if uid in last:
                before, at = last[uid]
                later += 1
                changes[uid] += side != before and event.at - at <= OSCILLATION
            last[uid] = side, event.at
    changed = changes.total()
    share = Fraction(changed, later) if later else Fraction()
    oscillating = methodology_rows(uid for uid, count in changes.most_common() if count)
    findings = (
        Finding(FindingCode.VERDICTS_OSCILLATE, severity_of(share), changed, oscillating, {"of": later, "days": 7}),
        Finding(FindingCode.VERDICTS_UNREADABLE, Severity.LOW, unreadable.total(), methodology_rows(unreadable)),
        Finding(FindingCode.FLAGS_CONTRADICTED, Severity.LOW, contradicted.total(), methodology_rows(contradicted)),
        Finding(FindingCode.MARKET_STRESS_FREEZE, Severity.LOW, freezes),
        Finding(FindingCode.SYNTHESIS_AUTO_DEMOTE, Severity.MEDIUM, demoted.total(), methodology_rows(demoted)),
    )
    score = 100 * (1 - share) if last else None
    return DimensionScore.of(
        score,
        findings,
        changes=changed,
        later=later,
        methods=len(last),
    )


def score_graduation_fp_rate(
    graduations: Iterable[EventRecord],
    reversals: Iterable[EventRecord],
    methods: Iterable[MethodologyRecord],
    *,
    now: datetime,
) -> DimensionScore:
    """Score how few graduations were reversed within 30 days: 100 x (1 - Wilson lower bound of the share).

    Both streams of events are in order of time; a reversal is one of the last graduation before it.
    A graduation younger than 30 days that was not reversed is left out. Graduated `methods` whose skill seems gone
    (the court's detector), that one owner's outcomes would demote, or that only institution runs keep at the bar, are
    findings whatever the score is.
    """
    graduated: dict[str, list[tuple[datetime, int]]] = defaultdict(list)
    for event in graduations:
        graduated[event.methodology or ""].append((event.at, event.id))
    reversed_by: dict[str, set[int]] = defaultdict(set)
    for event in reversals:
        moments = graduated.get(event.methodology or "", [])
        last = bisect_left(moments, (event.at, event.id)) - 1
        if last >= 0 and event.at - moments[last][0] <= OBSERVATION:
            reversed_by[event.methodology or ""].add(last)
    wrong = sum(map(len, reversed_by.values()))
    total = sum(map(len, graduated.values()))
    young = sum(
        now - at < OBSERVATION and place not in reversed_by.get(uid, ())
        for uid, moments in graduated.items()
        for place, (at, _id) in enumerate(moments)
    )
    counted = total - young
    share = Fraction(wrong, counted) if counted else Fraction()
    kept = [method for method in methods if method.is_graduated]
    marked = {
        FindingCode.SKILL_DECAYED: [method.uid for method in kept if method.is_decayed],
        FindingCode.OUTCOMES_OF_ONE_OWNER: [method.uid for method in kept if method.has_fallen_by_one],
        FindingCode.GRADUATED_BY_LADDER: [method.uid for method in kept if method.is_by_ladder],
    }
    findings = (
        Finding(
            FindingCode.GRADUATIONS_REVERSED,
            severity_of(share),
            wrong,
            methodology_rows(reversed_by),
            {"of": counted, "days": OBSERVATION.days},
        ),
        *(Finding(code, Severity.MEDIUM, len(uids), methodology_rows(uids)) for code, uids in marked.items()),
    )
    score = 100 * (1 - wilson_lower_bound(wrong, counted)) if counted else None
    return DimensionScore.of(
        score,
        findings,
        reversed=wrong,
        counted=counted,
        young=young,
    )


def count_cases(cases: Iterable[CaseRecord], *, now: datetime) -> CaseCounts:
    """Count the cases that closed, and those overdue: pending, window over, and decided 14 days ago."""
    closed: Counter[str] = Counter()
    overdue = without_price = 0
    first, unresolved, unpriced = list[int](), list[int](), list[int]()
    for case in cases:
        if case.outcome_state != OutcomeState.PENDING:
            closed[case.outcome_state] += 1
            if case.outcome_state not in RESOLVED and len(unresolved) < MAX_ROWS:
                unresolved.append(case.id)
            if case.gap or case.outcome_state == OutcomeState.EXPIRED:
                without_price += 1
                if len(unpriced) < MAX_ROWS:
                    unpriced.append(case.id)
        elif case.window_ends_at <= now and now - case.decided_at >= BACKLOG_AGE:
            overdue += 1
            if len(first) < MAX_ROWS:
                first.append(case.id)
    resolved = sum(closed[state] for state in RESOLVED)
    return CaseCounts(
        closed.total(),
        resolved,
        overdue,
        tuple(first),
        tuple(unresolved),
        without_price,
        tuple(unpriced),
    )


def score_attribution_integrity(cases: CaseCounts) -> DimensionScore:
    """Score (0.7 x resolve rate + 0.3 x (1 - backlog share)) x 100 of the cases closed in the window, and all overdue.

    The resolve rate is what closed good or bad of all that closed; the backlog share that of the overdue in closed
    and overdue together. With neither there is no score. Those that closed without a price are a finding.
    """
    closed, overdue = cases.closed, cases.overdue
    if not closed + overdue:
        return DimensionScore.of(
            None,
            (),
            closed=0,
            resolved=0,
            overdue=0,
        )
    backlog = Fraction(overdue, closed + overdue)
    rate = Fraction(cases.resolved, closed) if closed else Fraction()
    late = Finding(
        FindingCode.CASES_OVERDUE,
        severity_of(backlog),
        overdue,
        case_rows(cases.first),
        {"days": BACKLOG_AGE.days},
    )
    unresolved = Finding(
        FindingCode.CASES_UNRESOLVED,
        severity_of((1 - rate) / 2),
        closed - cases.resolved,
        case_rows(cases.unresolved),
        {"of": closed},
    )
    share = Fraction(cases.without_price, closed) if closed else Fraction()
    unpriced = Finding(
        FindingCode.CASES_WITHOUT_PRICE,
        Severity.MEDIUM if share >= MEDIUM_SHARE else Severity.LOW,
        cases.without_price,
        case_rows(cases.unpriced),
        {"of": closed},
    )
    findings = (late, unresolved if 1 - rate >= UNRESOLVED_SHARE else None, unpriced)
    score = 100 * (RESOLVE_WEIGHT * rate + BACKLOG_WEIGHT * (1 - backlog))
    return DimensionScore.of(
        score,
        findings,
        closed=closed,
        resolved=cases.resolved,
        overdue=overdue,
    )


def score_coverage_health(methods: Collection[MethodologyRecord]) -> DimensionScore:
    """Score how many graduated methodologies with 10 uses each of the five groups has; 3 are enough.

    The mean of min(n, 3)/3 over the groups; below 3 covered groups times covered/3. None active: no score.
    """
    active: dict[AssetGroup, int] = dict.fromkeys(AssetGroup, 0)
    waiting: dict[AssetGroup, list[str]] = defaultdict(list)
    for method in methods:
        group = method.asset_class.group
        if method.is_graduated and method.times_used >= MIN_ACTIVE_USES:
            active[group] += 1
        elif not method.is_held:
            waiting[group].append(method.uid)
    covered = sum(map(bool, active.values()))
    bare = [group for group, count in active.items() if not count]
    thin = [group for group, count in active.items() if 0 < count < GOAL_METHODS]
    findings = (
        Finding(
            FindingCode.GROUPS_UNCOVERED,
            Severity.MEDIUM if covered < GOAL_GROUPS else Severity.LOW,
            len(bare) if covered else 0,
            methodology_rows(uid for group in bare for uid in waiting[group]),
            {"groups": ",".join(bare)},
        ),
        Finding(
            FindingCode.GROUPS_THIN,
            Severity.LOW,
            len(thin),
            methodology_rows(uid for group in thin for uid in waiting[group]),
            {"groups": ",".join(thin), "goal": GOAL_METHODS},
        ),
    )
    mean = Fraction(
        sum(min(count, GOAL_METHODS) for count in active.values()),
        GOAL_METHODS * len(active),
    )
    score = 100 * mean * min(Fraction(covered, GOAL_GROUPS), Fraction(1)) if covered else None
    return DimensionScore.of(
        score,
        findings,
        active=sum(active.values()),
        covered=covered,
        groups=len(active),
    )


def score_quarantine_churn(events: Iterable[EventRecord]) -> DimensionScore:
    """Score how few methodologies changed state 3 times or more, of those that changed at all; none: no score."""
    changes = Counter(event.methodology for event in events if event.methodology and event.kind in STATE_CHANGES)
    churning = [uid for uid, count in changes.most_common() if count >= CHURN_EVENTS]
    if not changes:
        return DimensionScore.of(None, (), churning=0, changed=0)
    share = Fraction(len(churning), len(changes))
    facts = {"of": len(changes), "times": CHURN_EVENTS}
    finding = Finding(
        FindingCode.STATES_CHURN,
        severity_of(share),
        len(churning),
        methodology_rows(churning),
        facts,
    )
    return DimensionScore.of(
        100 * (1 - share),
        (finding,),
        churning=len(churning),
        changed=len(changes),
    )


def score_cron_health(
    newest: HeartbeatRecord | None,
    cases: CaseCounts,
    *,
    now: datetime,
) -> DimensionScore:
    """Score the lag of the newest heartbeat: 100 up to 12 hours, then linear to 0 at 7 days, less up to 30 for cases.

    100 overdue cases cost the 30. Without a heartbeat: 0 with overdue cases, no score without any.
    """
    overdue, rows = cases.overdue, case_rows(cases.first)
    if newest is None:
        missing = Finding(FindingCode.HEARTBEAT_MISSING, Severity.HIGH, overdue, rows)
        return DimensionScore.of(0 if overdue else None, (missing,), overdue=overdue)
    lag = max(now - newest.ended_at, timedelta())
    share = min(
        max(micros(lag - ON_TIME) / micros(DEAD - ON_TIME), Fraction()),
        Fraction(1),
    )
    penalty = MAX_OVERDUE_PENALTY * min(Fraction(1), Fraction(overdue, FULL_OVERDUE))
    score = max(100 * (1 - share) - penalty, Fraction())
    row = (f"cron_run:{newest.id}",)
    hours = {"hours": lag // timedelta(hours=1), "allowed": ON_TIME // timedelta(hours=1)}
    findings = (
        Finding(FindingCode.HEARTBEAT_LATE, severity_of(share), 1, row, hours) if lag > ON_TIME else None,
        None if newest.is_ok else Finding(FindingCode.HEARTBEAT_FAILED, Severity.HIGH, 1, row),
        Finding(
            FindingCode.CRON_BEHIND,
            severity_of(penalty / MAX_OVERDUE_PENALTY),
            overdue,
            rows,
        ),
    )
    return DimensionScore.of(score, findings, overdue=overdue, **hours)


def micros(span: timedelta) -> Fraction:
    """Return a span in microseconds."""
    return Fraction(span // timedelta(microseconds=1))
