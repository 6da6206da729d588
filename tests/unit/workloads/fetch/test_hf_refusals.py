"""What a hub means by a refusal."""

from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.workloads.fetch.sources.hf_address import HubAddress
from kfp_trainer.runtime_operator.workloads.fetch.sources.hf_refusals import reason, until_the_limit_resets
from kfp_trainer.runtime_operator.workloads.fetch.troubles import Refusal, Transient

ADDRESS = HubAddress("dataset", "org/name", "v9")
REASONS = {
    "no such revision": (404, "RevisionNotFound", True, "has no revision 'v9'"),
    "gated, without a token": (
        401,
        "GatedRepo",
        False,
        "ask for access on https://hub/datasets/org/name, then",
    ),
    "gated, with a token": (403, "GatedRepo", True, "the token's account has no access"),
    "no such repository, without a token": (401, "RepoNotFound", False, "it needs a token in ACCESS_TOKEN"),
    "no such repository, with a token": (404, "RepoNotFound", True, "the token may not see it"),
    "a hub that says no more": (404, "", True, "there is no such dataset on https://hub"),
    "a token that is not valid": (401, "", True, "https://hub does not accept the token"),
    "a token that may not read": (403, "", True, "give one with read access"),
    "a file that is listed and not held": (404, "EntryNotFound", True, "does not hold it"),
    "something else": (418, "", True, ""),
}
WAITS = {
    "exhausted": (429, '"api";r=0;t=55', 0.0, 55.0),
    "with blanks": (429, '"api" ; r = 0 ; t = 55', 0.0, 55.0),
    "not exhausted: another reason": (429, '"api";r=7;t=55', 0.0, 0.0),
    "Retry-After goes before": (429, '"api";r=0;t=55', 3.0, 3.0),
    "no such header": (429, "", 0.0, 0.0),
    "another trouble": (503, '"api";r=0;t=55', 0.0, 0.0),
}


@pytest.mark.parametrize("sentence", REASONS)
def test_a_refusal_means(sentence: str) -> None:
    status, code, has_token, want = REASONS[sentence]
    refusal = Refusal(status, {"x-error-code": code}, "https://hub/x")
    found = reason(refusal, ADDRESS, "https://hub", has_token=has_token)
    assert want in found
    assert bool(found) is bool(want)


@pytest.mark.parametrize("sentence", WAITS)
def test_a_hub_asks_to_wait(sentence: str) -> None:
    status, header, after, want = WAITS[sentence]
    error = Transient("too many", after=after)
    error.refusal = Refusal(status, {"ratelimit": header}, "https://hub/x")
    assert until_the_limit_resets(error).after == want
