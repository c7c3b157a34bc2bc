"""The Messages API that tests talk to: through the real SDK, and from other processes."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import anthropic
import pytest

from tests.kit.messages_api import KEY, MessagesApi, read_calls
from tests.kit.site import wait_until

TOOL = {"name": "note", "input_schema": {"type": "object"}}


def ask(
    api: MessagesApi,
    model: str = "claude-haiku-4-5",
    text: str = "What?",
    **options: object,
) -> anthropic.types.Message:
    client = anthropic.Anthropic(api_key=KEY, base_url=api.url, max_retries=0)
    arguments = {
        "max_tokens": 64,
        "tools": [TOOL],
        "messages": [{"role": "user", "content": text}],
        **options,
    }
    return client.messages.create(model=model, **arguments)  # type: ignore[call-overload, no-any-return]


def test_refuses_a_forced_tool_as_the_real_one_does(models: MessagesApi) -> None:
    with pytest.raises(anthropic.BadRequestError, match="not supported for this model"):
        ask(models, "claude-sonnet-5-5", tool_choice={"type": "tool", "name": "note"})
    assert models.summary()["refused"]


def test_counts_who_asks_at_once(models: MessagesApi) -> None:
    models.gate = threading.Event()
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(ask, models) for _n in range(8)]
        wait_until(lambda: models.under_way == 8)
        models.gate.set()
    assert len([each.result() for each in asked]) == read_calls(models.url)["calls"] == models.most_at_once == 8


def test_runs_in_a_process_of_its_own() -> None:
    command = [sys.executable, "-m", "tests.kit.messages_api", "--answer", '{"said": "hello"}']
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            api = MessagesApi(url=process.stdout.readline().strip())
            assert ask(api).content[0].input == {"said": "hello"}
            assert read_calls(api.url)["by_tool"] == {"note": 1}
        finally:
            process.terminate()
