"""What obstore raises, sorted by what can be done about it, without the address that it asked."""

import pytest
from obstore.exceptions import GenericError, PermissionDeniedError, PreconditionError

from kfp_trainer.runtime_operator.workloads.fetch.sources.object_store_reader import told
from kfp_trainer.runtime_operator.workloads.fetch.troubles import Changed, Expired, FetchError, Transient

ASKED = (
    "Error performing GET http://host/bucket?sig=canary-0123 in 1ms - Server returned non-2xx status code:"
)
SORTED: dict[str, tuple[Exception, type[Exception], str]] = {
    "a redirect without an address": (
        GenericError("Received redirect without LOCATION, this normally indicates a wrong region"),
        FetchError,
        "the bucket is in another region, set REGION",
    ),
    "the code of another region": (
        GenericError(f"{ASKED} 301 Moved: <?xml?><Error><Code>PermanentRedirect</Code></Error>"),
        FetchError,
        "the bucket is in another region, set REGION",
    ),
    "a signature for another region": (
        GenericError(f"{ASKED} 400 Bad Request: <?xml?><Error><Code>AuthorizationHeaderMalformed</Code>"),
        FetchError,
        "the bucket is in another region, set REGION",
    ),
    "too many requests": (GenericError(f"{ASKED} 503 Slow Down: <?xml"), Transient, "503 Slow Down"),
    "no connection": (
        GenericError("error sending request for url (http://host/?sig=canary)"),
        Transient,
        "url",
    ),
    "nobody may": (PermissionDeniedError(f"{ASKED} 403 Forbidden: x"), Expired, "check the credentials"),
    "it is another one": (PreconditionError(f"{ASKED} 412 Precondition Failed: x"), Changed, "changed while"),
    "it is not there": (FileNotFoundError("x"), FetchError, "is not there, mind the spelling"),
    "a request that is wrong": (GenericError(f"{ASKED} 400 Bad Request: x"), FetchError, "400 Bad Request"),
}


@pytest.mark.parametrize("sentence", SORTED)
def test_what_obstore_raises_is_sorted(sentence: str) -> None:
    error, kind, want = SORTED[sentence]
    with pytest.raises(kind, match=want) as caught, told("s3://bucket/x"):
        raise error
    assert type(caught.value) is kind
    assert "canary" not in str(caught.value)
