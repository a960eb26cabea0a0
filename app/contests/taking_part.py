"""What everybody sees of contests, and what those do who take part."""

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app import clock
from app.accounts.credentials import digest, new_secret, same
from app.contests.entering import HOUR, row_of
from app.contests.schemas import (
    Announcement,
    ContestDetail,
    ContestPage,
    ContestSummary,
    Entrant,
    Joined,
    JoinRequest,
    Left,
    Part,
    Phase,
    Question,
)
from app.errors import Conflict, Forbidden, Invalid, NotFound, TooManyRequests
from app.roles import Scope
from app.service import Service
from app.store import contests, users
from app.store.contest_tables import ContestRow, EntrantRow, MemberRow, QuestionRow

_OPEN_QUESTIONS = 5
_SUMMARY = ("name", "title", "device", "zone", "starts_at", "ends_at", "frozen_at", "team_size")
_DETAIL = ("description", "hourly_limit", "final_top", "final_rounds", "open_sources")


def list_contests(service: Service, cursor: str | None = None, limit: int = 50) -> ContestPage:
    """The latest first, from the one after `cursor`; Unauthorised, NotFound."""
    service.caller.require(Scope.READ)
    with service.store.read() as session:
        after = None if cursor is None else row_of(session, cursor)
        rows = contests.page(session, after, limit + 1)
        shown = tuple(_summary(session, row) for row in rows[:limit])
    return ContestPage(items=shown, next_cursor=shown[-1].name if len(rows) > limit else None)


def read_contest(service: Service, contest: str) -> ContestDetail:
    """A contest as the caller may see it; Unauthorised, NotFound."""
    service.caller.require(Scope.READ)
    with service.store.read() as session:
        return detail(service, session, row_of(session, contest))


def made_for(service: Service, submission: str) -> str | None:
    """The contest that a submission was made for, while the caller may submit for it again."""
    with service.store.read() as session:
        entry = contests.open_entry(session, submission)
        if entry is None or phase(row_of(session, entry.contest)) is not Phase.RUNNING:
            return None
        own = contests.entrant_of(session, entry.contest, service.caller.user)
        return entry.contest if own is not None and own.id == entry.entrant else None


def detail(service: Service, session: Session, row: ContestRow) -> ContestDetail:
    """The same from its row."""
    own = contests.entrant_of(session, row.name, service.caller.user)
    names = {entrant.id: entrant.name for entrant in contests.entrants(session, row.name)}
    told = contests.announcements(session, row.name)
    return ContestDetail(
        **dict(_summary(session, row)),
        **{name: getattr(row, name) for name in _DETAIL},
        announcements=tuple(Announcement(at=a.at, text=a.text) for a in told),
        questions=tuple(
            _question(asked, names[asked.entrant] if service.caller.is_admin else None)
            for asked in contests.questions(session, row.name)
            if asked.public or service.caller.is_admin or (own and asked.entrant == own.id)
        ),
        part=_part(session, own) if own else None,
    )


def list_entrants(service: Service, contest: str) -> tuple[Entrant, ...]:
    """Who takes part, in the order in which they joined; Unauthorised, NotFound."""
    service.caller.require(Scope.READ)
    caller = service.caller
    with service.store.read() as session:
        row_of(session, contest)
        members = contests.members(session, contest)
        return tuple(
            entrant_of(row, tuple(members.get(row.id, ())), caller.is_admin, caller.user)
            for row in contests.entrants(session, contest)
            if row.id in members
        )


def entrant_of(
    row: EntrantRow, members: tuple[str, ...], is_admin: bool, user: str | None
) -> Entrant:
    """An entrant as a user sees it."""
    return Entrant(
        number=row.id,
        name=row.name,
        members=members,
        joined_at=row.joined_at,
        disqualified=bool(row.disqualified),
        reason=row.disqualified if is_admin or user in members else "",
    )


def join(service: Service, contest: str, wanted: JoinRequest) -> Joined:
    """Take part, alone or in a team; NotFound, Forbidden, Invalid, Conflict."""
    service.caller.require(Scope.SUBMIT)
    user = service.caller.name
    secret = None if wanted.team is None else new_secret()
    try:
        with service.store.write() as session:
            row = row_of(session, contest, lock=True)
            _check_joining(session, row, user, wanted)
            before = contests.member(session, contest, user)
            entrant = _entrant(session, row, user, wanted, secret)
            _check_bound(session, before, entrant)
            session.merge(MemberRow(contest=contest, user=user, entrant=entrant.id, left_at=None))
            session.flush()
            part = _part(session, entrant)
    except IntegrityError:
        raise Conflict("that name is taken in this contest", "Choose another.") from None
    return Joined(part=part, code=secret)


def leave(service: Service, contest: str) -> Left:
    """Take part no more; NotFound (contest, part), Forbidden (disqualified), Conflict (over)."""
    service.caller.require(Scope.SUBMIT)
    user = service.caller.name
    with service.store.write() as session:
        row = row_of(session, contest, lock=True)
        own = contests.entrant_of(session, contest, user, lock=True)
        mine = contests.member(session, contest, user)
        if own is None or mine is None:
            raise NotFound(f"{user} takes no part in {contest}", "Nothing is to be left.")
        if phase(row) in (Phase.ENDED, Phase.CLOSED):
            raise Conflict(f"contest {contest} is over", "What stands there stays.")
        if own.disqualified:
            raise Forbidden(f"{own.name} is disqualified", "Ask the hosts.")
        mine.left_at = clock.now()
        session.flush()
        stays = own.id in contests.members(session, contest)
        return Left(entrant=own.name, stays=stays, bound=contests.entries(session, own.id) > 0)


def ask(service: Service, contest: str, text: str) -> Question:
    """Ask the hosts; NotFound, Forbidden, TooManyRequests."""
    service.caller.require(Scope.SUBMIT)
    with service.store.write() as session:
        row_of(session, contest)
        entrant = contests.entrant_of(session, contest, service.caller.name, lock=True)
        if entrant is None:
            raise Forbidden("only those ask who take part", "Join the contest first.")
        if contests.open_questions(session, entrant) >= _OPEN_QUESTIONS:
            raise TooManyRequests(
                f"{_OPEN_QUESTIONS} questions of yours have no answer", "Wait for the answers."
            )
        asked = QuestionRow(
            contest=contest,
            entrant=entrant.id,
            at=clock.now(),
            text=text,
            answer=None,
            public=False,
        )
        session.add(asked)
        session.flush()
        return _question(asked, None)


def phase(row: ContestRow) -> Phase:
    """Where a contest is now."""
    now = clock.now()
    if row.closed_at is not None:
        return Phase.CLOSED
    if now >= row.ends_at:
        return Phase.ENDED
    return Phase.RUNNING if now >= row.starts_at else Phase.UPCOMING


def question_of(session: Session, asked: QuestionRow) -> Question:
    """A question as hosts see it."""
    entrant = contests.entrant(session, asked.contest, asked.entrant)
    return _question(asked, entrant.name if entrant else None)


def _summary(session: Session, row: ContestRow) -> ContestSummary:
    return ContestSummary(
        **{name: getattr(row, name) for name in _SUMMARY},
        tasks=tuple(row.tasks.split()),
        phase=phase(row),
        invited_only=row.invite is not None,
        entrants=contests.size(session, row.name),
    )


def _question(asked: QuestionRow, entrant: str | None) -> Question:
    return Question(
        id=asked.id,
        at=asked.at,
        text=asked.text,
        answer=asked.answer,
        public=asked.public,
        entrant=entrant,
    )


def _part(session: Session, own: EntrantRow) -> Part:
    return Part(
        entrant=own.name,
        members=tuple(contests.members(session, own.contest).get(own.id, ())),
        disqualified=own.disqualified,
        used=len(contests.entries_since(session, own, clock.now() - HOUR)),
    )


def _check_joining(session: Session, row: ContestRow, user: str, wanted: JoinRequest) -> None:
    if phase(row) in (Phase.ENDED, Phase.CLOSED):
        raise Forbidden(f"contest {row.name} is over", "Choose another contest.")
    if row.invite is not None and not same(digest(wanted.invite or ""), row.invite):
        raise Forbidden(
            "that invitation opens nothing here", "Ask the hosts for the code of this contest."
        )
    if contests.entrant_of(session, row.name, user) is not None:
        raise Conflict(f"{user} takes part already", "Open the contest's page.")
    if row.team_size == 1 and (wanted.team or wanted.code):
        raise Invalid(f"contest {row.name} has no teams", "Join alone.")
    if wanted.team and wanted.code:
        raise Invalid("a team is made or joined, not both", "Leave one of them out.")


def _check_bound(session: Session, before: MemberRow | None, entrant: EntrantRow) -> None:
    """Conflict for who was somebody else that has submitted: nobody takes work along to another
    team, nor begins an entrant's quota anew."""
    if before is None or before.entrant == entrant.id:
        return
    if contests.entries(session, before.entrant):
        known = contests.entrant(session, before.contest, before.entrant)
        name = known.name if known else "somebody else"
        raise Conflict(
            f"submissions were made as {name}, which you have left",
            f"Come back as {name}: alone, or with the team's code.",
        )


def _entrant(
    session: Session, row: ContestRow, user: str, wanted: JoinRequest, secret: str | None
) -> EntrantRow:
    if wanted.code is not None:
        return _team_of(session, row, wanted.code)
    if wanted.team is None and (alone := contests.alone(session, row.name, user)):
        return alone  # who has left, and comes back
    name = wanted.team or user
    if name != user and users.by_name(session, name) is not None:
        raise Conflict(f"{name} is an account's name", "Choose another name for the team.")
    made = EntrantRow(
        contest=row.name,
        name=name,
        code=None if secret is None else digest(secret),
        disqualified="",
        joined_at=clock.now(),
    )
    session.add(made)
    session.flush()
    return made


def _team_of(session: Session, row: ContestRow, code: str) -> EntrantRow:
    team = contests.by_code(session, row.name, digest(code))
    if team is None:
        raise Forbidden("that code opens no team here", "Ask whoever made the team for its code.")
    if len(contests.members(session, row.name).get(team.id, ())) >= row.team_size:
        raise Conflict(f"team {team.name} has {row.team_size} members", "Make a team of your own.")
    return team
