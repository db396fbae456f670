"""A file's proposed change, made from what somebody has at hand: a new file, a patch, or nothing."""

from __future__ import annotations

from lineclear.core.json_text import canonical
from lineclear.core.log.tables import TASK
from lineclear.core.tasks.states import TAKEN
from lineclear.core.values.file_changes import FileChange, check_content
from lineclear.core.words.refusals import refuse
from lineclear.git.detached import file_at
from lineclear.git.landing import commit_of, landing_ref
from lineclear.git.object_store import ObjectStore
from lineclear.git.patching import NotApplied, apply_patch
from lineclear.git.run import GitFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.app.ports import Caller
    from lineclear.core.claims.resources import Resource
    from lineclear.wiring.repo import Repo

_PLAIN_FILES = ("", "100644", "100755")


def file_payload(
    repo: Repo, caller: Caller, resource: Resource, *, text: str | None, patch: str = "", task: int = 0
) -> str:
    """The payload of a proposal, based on main as it is now. `text` None without a patch: the file goes."""
    if resource.scheme != "file" or resource.kind != "file":
        raise refuse("proposal.not_a_file", resource=resource.text)
    cwd, ref = repo.layout.worktree, landing_ref(repo.layout)
    main = commit_of(cwd, ref)
    if not main:
        raise refuse("land.unborn", main=ref.removeprefix("refs/heads/"))
    blob, _, mode = file_at(repo.layout.common_dir, main, resource.path)
    if mode not in _PLAIN_FILES:
        raise refuse("proposal.not_a_file", resource=resource.text)
    content = _content(cwd, blob)
    if patch:
        text = _patched(resource, content, patch)
    check_content(resource.text, text, _text(content))
    change = FileChange(text, commit=main, blob=blob, task=task or _only_task(repo, caller))
    return canonical(change.as_payload())


def _content(cwd: str, blob: str) -> bytes | None:
    if not blob:
        return None
    with ObjectStore(cwd) as store:
        return store.read([blob])[blob]


def _text(content: bytes | None) -> str | None:
    return content.decode("utf-8", "replace") if content is not None else None


def _patched(resource: Resource, content: bytes | None, patch: str) -> str | None:
    try:
        return _text(apply_patch(resource.path, content, patch.encode()))
    except NotApplied as error:
        raise refuse("proposal.nothing", resource=resource.text, why=str(error)) from None
    except GitFailed as error:
        words = error.stderr.strip().replace("error: ", "").split("\n")[0]
        raise refuse(
            "proposal.nothing", resource=resource.text, why=f"the patch does not apply to main: {words}"
        ) from None


def _only_task(repo: Repo, caller: Caller) -> int:
    """What its author works on, when that is one task; 0 when it is not."""
    rows = repo.store.read(lambda view: view.scan(TASK, "ready", (TAKEN,)))
    mine = [row.id for row in rows if row.agent == caller.name]
    return mine[0] if len(mine) == 1 else 0
