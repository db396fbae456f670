"""Refusals about values, copies and proposals: one row each. Words only, no decision."""

from __future__ import annotations

from lineclear.core.words.row import HELD, NOT_ALLOWED, STALE, USAGE, Row

ROWS = {
    "value.exists": Row(
        STALE,
        'The value "{key}" already exists; nothing was written.',
        who="{holder:32} wrote version {version}.",
        next="lineclear value get {key:KEY}",
    ),
    "value.stale": Row(
        STALE,
        (
            'The value "{key}" has changed since version {given}; nothing was written.',
            'The value "{key}" is shared; state the version that you read.',
        ),
        who=("Version {version} is current, written by {holder:32}.", "Version {version} is current."),
        next="lineclear value get {key:KEY}",
    ),
    "copy.exists": Row(STALE, 'A copy "{copy}" already exists.', next="lineclear value merge {copy:COPY}"),
    "copy.not_yours": Row(
        NOT_ALLOWED,
        'The copy "{copy}" is not yours.',
        who="{holder:32} made it.",
        next="lineclear value list",
    ),
    "copy.conflict": Row(
        STALE,
        'The copy "{copy:40}" cannot be merged: both sides changed the same things. Nothing was written.',
        who="{count} in conflict: {where:90}.",
        next="lineclear value get {key:KEY}",
        words=("count", "key", "where"),
    ),
    "proposal.not_a_file": Row(
        USAGE,
        "Cannot propose content for {resource}: it is not a single file.",
        next="lineclear propose --help",
    ),
    "proposal.nothing": Row(
        USAGE,
        "Nothing was proposed for {resource}: {why:120}.",
        next="lineclear propose --help",
        words=("why",),
    ),
    "proposal.not_owner": Row(
        NOT_ALLOWED,
        "Cannot decide about {resource}: you do not own it.",
        who=("{holder:32} decides.", "Nobody owns it now; a person may decide."),
        next="lineclear proposal list",
    ),
    "proposal.decided": Row(
        STALE,
        "Proposal {proposal} is already decided: {state}.",
        who="{holder:32} decided it.",
        next="lineclear proposal show {proposal}",
    ),
    "proposal.order": Row(
        HELD,
        "Proposal {proposal} cannot be accepted yet.",
        who="Proposal {first} for {resource} is older and still open.",
        next="lineclear proposal show {first}",
        words=("resource",),
    ),
    "proposal.stale": Row(
        STALE,
        "Proposal {proposal} is based on an old version; nothing was written.",
        who="It starts from version {base} of {resource:48}; version {version} is current.",
        next="lineclear proposal reject {proposal} --reason 'based on an old version'",
        words=("resource",),
    ),
}
